// tests/conformance/lm_llama.cpp -- language models of the architecture LlamaForCausalLM, of any extents.
// SPDX-License-Identifier: BSL-1.0
#include "lm.hpp"
#include <dimwise/models/llama.hpp>

namespace conformance {

namespace {

using namespace dimwise;

template <class Output, class AttentionBias>
void check(run& r, const lm::checkpoint& c) {
  using model = models::llama<models::llama_dims, Output, AttentionBias>;
  lm::check_model(r, c, [&](const io::archive& weights) { return models::read_llama_as<model>(c.config(), weights); });
}
template <class AttentionBias>
void check(run& r, const lm::checkpoint& c) {
  c.flag("tie_word_embeddings", false) ? check<models::tied, AttentionBias>(r, c)
                                       : check<models::own, AttentionBias>(r, c);
}

void llama(run& r) {
  const lm::checkpoint c(r);
  c.flag("attention_bias", false) ? check<nn::with_bias>(r, c) : check<nn::no_bias>(r, c);
}

const family llama_cases{"LlamaForCausalLM", llama};

}  // namespace
}  // namespace conformance

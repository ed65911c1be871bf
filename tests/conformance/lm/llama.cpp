// tests/conformance/lm/llama.cpp -- language models of the architecture LlamaForCausalLM, of any extents.
// SPDX-License-Identifier: BSL-1.0
#include "lm.hpp"
#include <dimwise/models/llama.hpp>

namespace conformance {

namespace {

using namespace dimwise;

// Every combination is a model of its own. They share what does not depend on their arguments: each takes little more
// time to compile.
template <class Activation, class AttentionBias, class FeedBias, class Output>
void check(run& r, const lm::checkpoint& c) {
  using model = models::llama<models::llama_dims, Output, AttentionBias, FeedBias, Activation>;
  lm::check_model(r, c, [&](const io::archive& weights) { return models::read_llama_as<model>(c.config(), weights); });
}
template <class Activation, class AttentionBias, class FeedBias>
void check(run& r, const lm::checkpoint& c) {
  c.flag("tie_word_embeddings", false) ? check<Activation, AttentionBias, FeedBias, models::tied>(r, c)
                                       : check<Activation, AttentionBias, FeedBias, models::own>(r, c);
}
template <class Activation>
void check(run& r, const lm::checkpoint& c) {
  using nn::no_bias, nn::with_bias;
  const bool attention = c.flag("attention_bias", false);
  const bool feed = c.flag("mlp_bias", false);
  attention ? (feed ? check<Activation, with_bias, with_bias>(r, c) : check<Activation, with_bias, no_bias>(r, c))
            : (feed ? check<Activation, no_bias, with_bias>(r, c) : check<Activation, no_bias, no_bias>(r, c));
}

void llama(run& r) {
  namespace f = nn::activation;
  const lm::checkpoint c(r);
  models::with_activation<f::silu, f::gelu, f::gelu_tanh, f::relu>(
      c.word("hidden_act", "silu"), [&]<class Activation>(Activation) { check<Activation>(r, c); });
}

const family llama_cases{"LlamaForCausalLM", llama};

}  // namespace
}  // namespace conformance

// tests/conformance/lm/gpt2.cpp -- language models of the architecture GPT2LMHeadModel, of any extents.
// SPDX-License-Identifier: BSL-1.0
#include "lm.hpp"
#include <dimwise/models/gpt2.hpp>

namespace conformance {

namespace {

using namespace dimwise;

template <class Output, class Activation>
void check(run& r, const lm::checkpoint& c) {
  lm::check_model(r, c, [&](const io::archive& weights) {
    return models::read_gpt2<models::gpt2_dims, Output, Activation>(c.config(), weights);
  });
}
template <class Activation>
void check(run& r, const lm::checkpoint& c) {
  c.flag("tie_word_embeddings", true) ? check<models::tied, Activation>(r, c) : check<models::own, Activation>(r, c);
}

void gpt2(run& r) {
  namespace f = nn::activation;
  const lm::checkpoint c(r);
  models::with_activation<f::gelu_tanh, f::gelu, f::relu, f::silu>(
      c.word("activation_function", "gelu_new"), [&]<class Activation>(Activation) { check<Activation>(r, c); });
}

const family gpt2_cases{"GPT2LMHeadModel", gpt2};

}  // namespace
}  // namespace conformance

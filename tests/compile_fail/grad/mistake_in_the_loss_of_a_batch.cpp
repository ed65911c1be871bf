// MISTAKE: the loss of a batch has a mistake in its own lines; the call that adds it adds no second error.
// RULE: R1
// LINES(clang): 19
// EXPECT: ERROR_R1_contracted_dimension_is_not_in_both<.*contract.*vocab
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

void step(const tensor<float, d_model, vocab>& w) {
  accumulated total(w);
#ifdef FIXED
  total.add([](const auto& m) { return cross_entropy<vocab>(contract<d_model>(x, m), tokens); });
#else
  total.add([](const auto& m) { return cross_entropy<vocab>(contract<vocab>(x, m), tokens); });
#endif
  [[maybe_unused]] const float loss = total.mean().value;
}

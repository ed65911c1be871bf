// MISTAKE: the loss of a batch is computed with the model outside, not with the one that it is given.
// RULE: R21
// EXPECT: ERROR_R21_loss_has_no_tracked_operand
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

void step(const tensor<float, d_model, vocab>& w) {
  accumulated total(w);
#ifdef FIXED
  total.add([](const auto& m) { return cross_entropy<vocab>(contract<d_model>(x, m), tokens); });
#else
  total.add([&](const auto&) { return cross_entropy<vocab>(contract<d_model>(x, w), tokens); });
#endif
}

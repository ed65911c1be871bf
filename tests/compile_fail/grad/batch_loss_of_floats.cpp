// MISTAKE: the loss of a batch takes a model of floats, so that nothing is tracked.
// RULE: R21
// EXPECT: ERROR_R21_loss_takes_the_model_with_tracked_elements
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

using weights = tensor<float, d_model, vocab>;

void step(const weights& w) {
  accumulated total(w);
#ifdef FIXED
  total.add([](const auto& m) { return cross_entropy<vocab>(contract<d_model>(x, m), tokens); });
#else
  total.add([](const weights& m) { return cross_entropy<vocab>(contract<d_model>(x, m), tokens); });
#endif
}

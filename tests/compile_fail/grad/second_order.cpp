// MISTAKE: a gradient of a gradient was wanted, of the tensor that a loss was given.
// RULE: R21
// EXPECT: ERROR_R21_gradients_of_gradients_are_not_recorded
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

void penalise(const tensor<dimwise::tracked<float>, d_model, out<d_model>>& m) {
  const auto loss = [&](const auto& w) { return mean<batch, seq, d_model>(square(contract<d_model>(x, w))); };
#ifdef FIXED
  [[maybe_unused]] const auto g = gradient(detached(m), loss);
#else
  [[maybe_unused]] const auto g = gradient(m, loss);
#endif
}

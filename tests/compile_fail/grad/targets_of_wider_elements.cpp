// MISTAKE: the targets were read as doubles, and the model has elements of float.
// RULE: R21
// EXPECT: ERROR_R21_loss_has_other_elements_than_the_model<.*mean_squared_error.*declared<float>.*computed<double>
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

#ifdef FIXED
using target = float;
#else
using target = double;
#endif

void step(const tensor<dimwise::tracked<float>, batch, d_model>& m, const tensor<target, batch, d_model>& targets) {
  [[maybe_unused]] const auto loss = mean_squared_error(m, targets);
}

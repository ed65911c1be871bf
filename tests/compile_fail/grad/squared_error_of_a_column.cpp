// MISTAKE: predictions [batch, 1] meet targets [batch], which would make a matrix of errors.
// RULE: R22
// EXPECT: ERROR_R22_targets_have_other_dimensions<.*mean_squared_error.*one
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

struct one : feature_dim<1> {};
extern tensor<float, batch, one> predictions;
extern tensor<float, batch> wanted;

void train() {
#ifdef FIXED
  [[maybe_unused]] const auto loss = mean_squared_error(at<one>(predictions, 0), wanted);
#else
  [[maybe_unused]] const auto loss = mean_squared_error(predictions, wanted);
#endif
}

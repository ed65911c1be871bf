// MISTAKE: logits [batch, 1] meet targets [batch], which would make a matrix of losses.
// RULE: R22
// EXPECT: ERROR_R22_targets_have_other_dimensions<.*binary_cross_entropy.*one
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

struct one : feature_dim<1> {};
extern tensor<float, batch, one> decisions;
extern tensor<float, batch> wanted;

void train() {
#ifdef FIXED
  [[maybe_unused]] const auto loss = binary_cross_entropy(at<one>(decisions, 0), wanted);
#else
  [[maybe_unused]] const auto loss = binary_cross_entropy(decisions, wanted);
#endif
}

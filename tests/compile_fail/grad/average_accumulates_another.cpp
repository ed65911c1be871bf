// MISTAKE: an average over other dimensions is added to a loss by `+=`.
// RULE: R22
// EXPECT: ERROR_R22_mean_of_an_average_is_added<.*batch.*seq.*d_model
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

extern tensor<float, d_model> weight, kept;

void train() {
  average loss = cross_entropy<vocab>(logits, tokens);
#ifdef FIXED
  loss += cross_entropy<vocab>(logits, tokens);
#else
  loss += mean_squared_error(weight, kept);
#endif
}

// MISTAKE: a number is added to a loss that is not divided by its count yet.
// RULE: R22
// EXPECT: ERROR_R22_mean_of_an_average_is_added<.*over<.*batch.*seq
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

void train(const tensor<float, d_model, d_ff>& weight) {
#ifdef FIXED
  [[maybe_unused]] const auto loss =
      cross_entropy<vocab>(logits, tokens).mean() + 0.1F * mean<d_model, d_ff>(square(weight));
#else
  [[maybe_unused]] const auto loss = cross_entropy<vocab>(logits, tokens) + 0.1F * mean<d_model, d_ff>(square(weight));
#endif
}

// MISTAKE: an array of xtensor is given the type of the tensor in place of its dimensions.
// RULE: R1
// EXPECT: ERROR_R1_operation_names_its_dimension<.*from_xtensor
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/tensor/xtensor.hpp>

void convert(const xt::xtensor<float, 2>& array) {
#ifdef FIXED
  [[maybe_unused]] const auto copy = from_xtensor<seq, d_model>(array);
#else
  [[maybe_unused]] const auto copy = from_xtensor<tensor<float, seq, d_model>>(array);
#endif
}

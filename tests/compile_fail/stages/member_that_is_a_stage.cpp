// MISTAKE: a member of the model is a stage, and the others are on every rank: their norm would count them once each.
// RULE: R25
// EXPECT: ERROR_R25_model_names_no_axis_of_stages<.*norm_of.*tuple
#include "stages_prelude.hpp"

void report(const one_stage<float>& gradient, const tensor<float, d_model>& bias, const ranks::mesh<pp>& grid) {
#ifdef FIXED
  [[maybe_unused]] const auto norm = norm_of(gradient, grid);
#else
  [[maybe_unused]] const auto norm = norm_of(std::tuple(gradient, bias), grid);
#endif
  (void)bias;
}

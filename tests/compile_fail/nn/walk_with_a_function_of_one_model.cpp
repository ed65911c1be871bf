// MISTAKE: two models are walked together by a function that takes the parameter of one.
// RULE: R21
// EXPECT: ERROR_R21_walk_calls_its_function_with_a_name_and_parameters<.*for_each_parameter_of.*tensor<float.*tensor<float
// VARIANTS: equal dynamic
#include "nn_prelude.hpp"
#include <dimwise/grad.hpp>

#include <string>

extern nn::feed_forward<d_model, d_ff> model, kept;

void average() {
#ifdef FIXED
  for_each_parameter_of([](const std::string&, auto& to, const auto& from) { to = from; }, model, kept);
#else
  for_each_parameter_of([](const std::string&, auto& to) { to = 0 * to; }, model, kept);
#endif
}

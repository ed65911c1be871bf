// MISTAKE: the function that walks a model takes no name.
// RULE: R21
// EXPECT: ERROR_R21_walk_calls_its_function_with_a_name_and_parameters<.*for_each_parameter.*tensor<float
// VARIANTS: equal dynamic
#include "nn_prelude.hpp"

#include <string>

extern nn::feed_forward<d_model, d_ff> model;

void count(std::size_t& n) {
#ifdef FIXED
  nn::for_each_parameter(model, [&](const std::string&, const auto& part) { n += part.size(); });
#else
  nn::for_each_parameter(model, [&](const auto& part) { n += part.size(); });
#endif
}

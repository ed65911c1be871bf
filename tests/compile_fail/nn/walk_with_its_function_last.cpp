// MISTAKE: the walk over two models is given its function after them, as the walk over one model takes it.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*for_each_parameter_of
// VARIANTS: equal dynamic
#include "nn_prelude.hpp"
#include <dimwise/grad.hpp>

#include <string>

extern nn::feed_forward<d_model, d_ff> model, kept;

void average() {
#ifdef FIXED
  for_each_parameter_of([](const std::string&, auto& to, const auto& from) { to = from; }, model, kept);
#else
  for_each_parameter_of(model, kept, [](const std::string&, auto& to, const auto& from) { to = from; });
#endif
}

// MISTAKE: a model is walked together with one whose layers have another width.
// RULE: R22
// EXPECT: ERROR_R22_models_have_other_parts<.*for_each_parameter_of.*d_model.*d_v
// VARIANTS: equal dynamic
#include "nn_prelude.hpp"
#include <dimwise/grad.hpp>

#include <string>

extern nn::feed_forward<d_model, d_ff> model, kept;
extern nn::feed_forward<d_v, d_ff> other;

void average() {
  const auto half = [](const std::string&, auto& to, const auto& from) { to = 0.5F * to + 0.5F * from; };
#ifdef FIXED
  for_each_parameter_of(half, model, kept);
#else
  for_each_parameter_of(half, model, other);
#endif
}

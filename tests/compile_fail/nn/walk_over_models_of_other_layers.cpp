// MISTAKE: a model is walked together with one that has a shift in place of its norm.
// RULE: R22
// EXPECT: ERROR_R22_models_have_other_parts<.*for_each_parameter_of.*layer_norm.*shift
// VARIANTS: equal dynamic
#include "nn_prelude.hpp"
#include <dimwise/grad.hpp>

#include <string>
#include <tuple>

struct shift {
  using weight_type = tensor<float, d_model>;
  BOOST_HANA_DEFINE_STRUCT(shift, (weight_type, by), (weight_type, scale));
};
extern std::tuple<nn::feed_forward<d_model, d_ff>, nn::layer_norm<d_model>> model, kept;
extern std::tuple<nn::feed_forward<d_model, d_ff>, shift> other;

void count() {
  const auto compare = [](const std::string&, const auto&, const auto&) {};
#ifdef FIXED
  for_each_parameter_of(compare, model, kept);
#else
  for_each_parameter_of(compare, model, other);
#endif
}

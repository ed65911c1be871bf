// MISTAKE: the parameters of a struct are counted whose members BOOST_HANA_DEFINE_STRUCT does not name.
// RULE: R21
// EXPECT: ERROR_R21_model_is_a_module_with_named_members<.*parameter_count.*gate
// VARIANTS: equal unused dynamic
#include "nn_prelude.hpp"

struct gate {
  using weight_type = tensor<float, d_model>;
#ifdef FIXED
  BOOST_HANA_DEFINE_STRUCT(gate, (weight_type, weight));
#else
  weight_type weight;
#endif
};

void count(const gate& model) { [[maybe_unused]] const auto n = nn::parameter_count(model); }

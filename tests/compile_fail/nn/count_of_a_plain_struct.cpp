// MISTAKE: the parameters of a struct are counted that does not list its members.
// RULE: R21
// EXPECT: ERROR_R21_model_is_a_module_with_named_members<.*parameter_count.*gate
// VARIANTS: equal unused dynamic
#include "nn_prelude.hpp"

struct gate {
  using weight_type = tensor<float, d_model>;
  weight_type weight;
#ifdef FIXED
  using members = nn::member_list<&gate::weight>;
#endif
};

void count(const gate& model) { [[maybe_unused]] const auto n = nn::parameter_count(model); }

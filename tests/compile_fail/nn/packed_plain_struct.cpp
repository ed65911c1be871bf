// MISTAKE: the weights of a struct are packed that does not list its members.
// RULE: R21
// EXPECT: ERROR_R21_model_is_a_module_with_named_members<.*pack_weights.*gate
// VARIANTS: equal unused dynamic
#include "nn_prelude.hpp"

struct gate {
  using weight_type = tensor<float, d_model>;
  weight_type weight;
#ifdef FIXED
  using members = nn::member_list<&gate::weight>;
#endif
};

void pack(const gate& model) { [[maybe_unused]] const auto n = nn::pack_weights(model); }

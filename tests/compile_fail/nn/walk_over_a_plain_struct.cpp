// MISTAKE: a walk goes through a struct that does not list its members.
// RULE: R21
// EXPECT: ERROR_R21_model_is_a_module_with_named_members<.*for_each_parameter.*gate
// VARIANTS: equal dynamic
#include "nn_prelude.hpp"

#include <string>

struct gate {
  using weight_type = tensor<float, d_model>;
  weight_type weight;
#ifdef FIXED
  using members = nn::member_list<&gate::weight>;
#endif
};

void clear(gate& model) {
  nn::for_each_parameter(model, [](const std::string&, auto& part) { part.fill(0); });
}

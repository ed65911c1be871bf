// MISTAKE: a struct is saved that does not list its members.
// RULE: R21
// EXPECT: ERROR_R21_model_is_a_module_with_named_members<.*save.*gate
// VARIANTS: equal dynamic
#include "nn_prelude.hpp"
#include <dimwise/io/checkpoint.hpp>

struct gate {
  using weight_type = tensor<float, d_model>;
  weight_type weight;
#ifdef FIXED
  using members = nn::member_list<&gate::weight>;
#endif
};

void keep(const gate& model) { io::save(model, "gate.safetensors"); }

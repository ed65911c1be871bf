// MISTAKE: a struct is saved whose members BOOST_HANA_DEFINE_STRUCT does not name.
// RULE: R21
// EXPECT: ERROR_R21_model_is_a_module_with_named_members<.*save.*gate
// VARIANTS: equal dynamic
#include "nn_prelude.hpp"
#include <dimwise/io/checkpoint.hpp>

struct gate {
  using weight_type = tensor<float, d_model>;
#ifdef FIXED
  BOOST_HANA_DEFINE_STRUCT(gate, (weight_type, weight));
#else
  weight_type weight;
#endif
};

void keep(const gate& model) { io::save(model, "gate.safetensors"); }

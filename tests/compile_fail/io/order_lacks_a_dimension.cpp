// MISTAKE: the file's order of a weight lacks the heads, which are one axis with their features.
// RULE: R3
// EXPECT: ERROR_R3_stored_order_lists_each_dimension_once<.*stored<.*d_k.*d_model.*operand_shape<.*heads
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/io/bindings.hpp>

void names(io::bindings& file, tensor<float, d_model, heads, d_k>& query) {
#ifdef FIXED
  file.bind<io::stored<io::together<heads, d_k>, d_model>>("q_proj.weight", query);
#else
  file.bind<io::stored<d_k, d_model>>("q_proj.weight", query);
#endif
}

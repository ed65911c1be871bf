// MISTAKE: the features whose rotary pairs are stored are those of the values, which the map does not give.
// RULE: R3
// EXPECT: ERROR_R3_stored_order_lists_each_dimension_once<.*pairs_as_halves<.*d_v.*operand_shape<.*d_k
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/io/bindings.hpp>

void names(io::bindings& file, nn::linear<nn::from<d_model>, nn::to<heads, d_k>>& query) {
#ifdef FIXED
  file.linear<io::out_in, io::pairs_as_halves<d_k>>("q_proj", query);
#else
  file.linear<io::out_in, io::pairs_as_halves<d_v>>("q_proj", query);
#endif
}

// MISTAKE: the file's order of a table names one dimension twice: both are 24.
// RULE: R3
// EXPECT: ERROR_R3_stored_order_lists_each_dimension_once<.*stored<.*d_model.*d_model.*operand_shape<.*vocab
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/io/bindings.hpp>

void names(io::bindings& file, tensor<float, vocab, d_model>& table) {
#ifdef FIXED
  file.bind<io::stored<vocab, d_model>>("wte.weight", table);
#else
  file.bind<io::stored<d_model, d_model>>("wte.weight", table);
#endif
}

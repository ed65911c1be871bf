// MISTAKE: a tensor is read from a file whose axes are said to be other dimensions than the tensor's.
// RULE: R3
// EXPECT: ERROR_R3_stored_order_lists_each_dimension_once<.*stored<.*vocab.*heads.*operand_shape<.*d_model
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/io/arrays/tensors.hpp>

void read(const io::stored_array& file) {
#ifdef FIXED
  (void)io::read_tensor<tensor<float, vocab, d_model>, io::stored<d_model, vocab>>(file);
#else
  (void)io::read_tensor<tensor<float, vocab, d_model>, io::stored<vocab, heads>>(file);
#endif
}

// MISTAKE: a tensor is read from an archive, not from one of its arrays.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*read_tensor
// VARIANTS: dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/io.hpp>

void read(const io::archive& file) {
#ifdef FIXED
  RESULT y = io::read_tensor<tensor<float, batch, seq, d_model>>(file.at("x"));
#else
  RESULT y = io::read_tensor<tensor<float, batch, seq, d_model>>(file);
#endif
}

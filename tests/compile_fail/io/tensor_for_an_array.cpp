// MISTAKE: a tensor is written without a name.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*write_npy
// VARIANTS: dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/io.hpp>

void write() {
#ifdef FIXED
  io::write_npy("x.npy", io::as_stored("x", x));
#else
  io::write_npy("x.npy", x);
#endif
}

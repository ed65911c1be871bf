// MISTAKE: an expression is written to a file as if it had memory.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*as_stored
// VARIANTS: dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/io.hpp>

void write() {
#ifdef FIXED
  io::write_npy("a.npy", io::as_stored("a", tensor(softmax<key>(s))));
#else
  io::write_npy("a.npy", io::as_stored("a", softmax<key>(s)));
#endif
}

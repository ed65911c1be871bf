// MISTAKE: broadcast to a number.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*broadcast.*head
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct head : heads_dim<> {};

void layer() {
#ifdef FIXED
  RESULT y = broadcast<head>(x, head{3});
#else
  RESULT y = broadcast<head>(x, 3);
#endif
}

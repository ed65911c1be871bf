// MISTAKE: the number of pairs as a number, and not as the extent of a dimension.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*rotary_frequencies.*half<.*int
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = rotary_frequencies(half<d_model>{});
#else
  RESULT y = rotary_frequencies<half<d_model>>(32);
#endif
}

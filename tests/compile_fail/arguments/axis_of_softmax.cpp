// MISTAKE: a softmax over a number.
// RULE: R1
// EXPECT: ERROR_R1_operation_names_its_dimension<.*softmax.*1
// VARIANTS: unused
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = softmax<key>(s);
#else
  RESULT y = softmax<1>(s);
#endif
}

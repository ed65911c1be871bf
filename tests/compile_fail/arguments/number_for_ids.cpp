// MISTAKE: gather by one number.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*gather.*vocab
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = at<vocab>(embedding, 3);
#else
  RESULT y = gather<vocab>(embedding, 3);
#endif
}

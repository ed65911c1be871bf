// MISTAKE: map with its function at the end.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*map
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = map([](float v) { return v * v; }, x);
#else
  RESULT y = map(x, [](float v) { return v * v; });
#endif
}

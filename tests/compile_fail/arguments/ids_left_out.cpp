// MISTAKE: gather without ids.
// RULE: R1
// EXPECT: ERROR_R1_argument_is_missing<.*gather.*vocab.*ids
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = gather<vocab>(embedding, tokens);
#else
  RESULT y = gather<vocab>(embedding);
#endif
}

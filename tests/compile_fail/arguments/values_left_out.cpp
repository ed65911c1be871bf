// MISTAKE: scatter_add of ids without values.
// RULE: R1
// EXPECT: ERROR_R1_argument_is_missing<.*scatter_add.*vocab.*values
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = scatter_add<vocab>(x, tokens);
#else
  RESULT y = scatter_add<vocab>(tokens);
#endif
}

// MISTAKE: scatter_add names the positions as kept and as summed over.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*scatter_add
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = scatter_add<vocab, seq>(x, tokens);
#else
  RESULT r = scatter_add<vocab, seq>(x, tokens, along<batch>{});
#endif
}

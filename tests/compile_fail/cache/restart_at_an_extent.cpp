// MISTAKE: a cache restarts at an extent instead of a position.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*restart.*now
#include "cache_prelude.hpp"
#include <dimwise/nn/cache.hpp>

void layer() {
#ifdef FIXED
  cache.restart(3);
#else
  cache.restart(now{3});
#endif
}

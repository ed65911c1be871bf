// MISTAKE: the next position of a cache is asked for without its dimension.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*next, ?int
#include "cache_prelude.hpp"
#include <dimwise/nn/cache.hpp>

void layer() {
#ifdef FIXED
  [[maybe_unused]] const auto step = cache.next(now{1});
#else
  [[maybe_unused]] const auto step = cache.next(1);
#endif
}

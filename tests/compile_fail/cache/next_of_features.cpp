// MISTAKE: the next positions of a cache are asked for as features.
// RULE: R13
// EXPECT: ERROR_R13_needs_ordered_positions<.*next.*d_model
// VARIANTS: equal dynamic
#include "cache_prelude.hpp"
#include <dimwise/nn/cache.hpp>

void layer() {
#ifdef FIXED
  [[maybe_unused]] const auto step = cache.next(now{1});
#else
  [[maybe_unused]] const auto step = cache.next(d_model{});
#endif
}

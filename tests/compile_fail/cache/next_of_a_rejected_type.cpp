// MISTAKE: the next position is asked for with a tensor that has one dimension twice.
// RULE: R17
// EXPECT: ERROR_R17_dimension_occurs_twice<.*now
#include "cache_prelude.hpp"
#include <dimwise/nn/cache.hpp>

void layer() {
#ifdef FIXED
  [[maybe_unused]] const auto step = cache.next(now{1});
#else
  tensor<float, now, now> states;
  [[maybe_unused]] const auto step = cache.next(states);
#endif
}

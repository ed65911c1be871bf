// MISTAKE: a prefix mask between examples.
// RULE: R13
// EXPECT: ERROR_R13_needs_ordered_positions<.*prefix.*batch
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct other_batch : prime<batch> {};

void attention() {
#ifdef FIXED
  [[maybe_unused]] auto m = prefix<seq, key>{3};
#else
  [[maybe_unused]] auto m = prefix<batch, other_batch>{3};
#endif
}

// MISTAKE: relative positions of one sequence become absolute positions of another.
// RULE: R7
// EXPECT: ERROR_R7_query_and_key_positions_are_related_or_have_origins<.*skew.*src
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct distance : position_dim<> {};

void layer(const tensor<float, heads, seq, distance>& t) {
#ifdef FIXED
  RESULT r = skew<seq, distance, key>(t, key{});
#else
  RESULT r = skew<seq, distance, src>(t, src{});
#endif
}

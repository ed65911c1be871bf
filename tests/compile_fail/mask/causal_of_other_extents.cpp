// MISTAKE: a causal mask between queries and more keys, without saying at which position the queries begin.
// RULE: R7
// EXPECT: ERROR_R7_query_and_key_positions_are_related_or_have_origins<.*causal.*seq, .*extent<5.*cached, .*extent<9
// VARIANTS: unused
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct cached : prime<seq, 9> {};

void attention(const tensor<float, batch, heads, seq, cached, score<d_k>>& t) {
#ifdef FIXED
  RESULT r = masked(t, causal<seq, cached>{starting_at(seq{}, 4), cached{}});
#else
  RESULT r = masked(t, causal<seq, cached>{});
#endif
}

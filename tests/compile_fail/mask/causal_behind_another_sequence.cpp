// MISTAKE: a causal mask over a sum whose last part are the positions of another sequence.
// RULE: R7
// EXPECT: ERROR_R7_query_and_key_positions_are_related_or_have_origins<.*causal.*seq.*src
// VARIANTS: equal
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct learned : position_dim<3> {};

void attention(const tensor<float, seq, summed<learned, key>, score<d_k>>& t,
               const tensor<float, seq, summed<learned, src>, score<d_k>>& u) {
#ifdef FIXED
  RESULT r = masked(t, causal<seq, summed<learned, key>>{});
  (void)u;
#else
  RESULT r = masked(u, causal<seq, summed<learned, src>>{});
  (void)t;
#endif
}

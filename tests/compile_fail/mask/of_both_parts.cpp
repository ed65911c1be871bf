// MISTAKE: one mask with both parts of a sum, as if they were two dimensions of the scores.
// RULE: R7
// EXPECT: ERROR_R7_mask_has_dimensions_that_the_scores_lack<.*masked.*learned.*key
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct learned : position_dim<EXTENT(3)> {};

void attention(const tensor<float, seq, summed<learned, key>, score<d_k>>& t, const tensor<bool, learned>& of_learned,
               const tensor<bool, seq, key>& of_keys, const tensor<bool, learned, key>& of_pairs) {
#ifdef FIXED
  RESULT r = masked(masked(t, allow(of_learned)), allow(of_keys));
  (void)of_pairs;
#else
  RESULT r = masked(t, allow(of_pairs));
  (void)of_learned, (void)of_keys;
#endif
}

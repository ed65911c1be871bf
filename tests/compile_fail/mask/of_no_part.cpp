// MISTAKE: the mask of a memory that is not a part of the dimension of the scores.
// RULE: R7
// EXPECT: ERROR_R7_mask_has_dimensions_that_the_scores_lack<.*masked.*src
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct learned : position_dim<3> {};

void attention(const tensor<float, seq, summed<learned, key>, score<d_k>>& t, const tensor<bool, learned>& of_part,
               const tensor<bool, src>& of_memory) {
#ifdef FIXED
  RESULT r = masked(t, allow(of_part));
  (void)of_memory;
#else
  RESULT r = masked(t, allow(of_memory));
  (void)of_part;
#endif
}

// MISTAKE: each rank takes the best of its part of the vocabulary.
// RULE: R24
// EXPECT: ERROR_R24_operation_goes_over_a_shard<.*argmax.*shard<.*words, .*tp
// VARIANTS: unused
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct tp : mesh_axis<2> {};
struct words : choice_dim<8> {};
using words_here = shard<words, tp>;

void predicted(const tensor<float, batch, seq, words_here>& part, const tensor<float, batch, seq, words>& whole) {
#ifdef FIXED
  RESULT p = argmax<words>(whole);
#else
  RESULT p = argmax<words_here>(part);
#endif
  (void)part, (void)whole;
}

// MISTAKE: each rank takes the softmax over its part of the vocabulary.
// RULE: R24
// EXPECT: ERROR_R24_operation_goes_over_a_shard<.*softmax.*shard<.*words, .*tp
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct tp : mesh_axis<2> {};
struct words : choice_dim<8> {};
using words_here = shard<words, tp>;

void predicted(const tensor<float, batch, seq, words_here>& part, const tensor<float, batch, seq, words>& whole) {
#ifdef FIXED
  RESULT p = softmax<words>(whole);
#else
  RESULT p = softmax<words_here>(part);
#endif
  (void)part, (void)whole;
}

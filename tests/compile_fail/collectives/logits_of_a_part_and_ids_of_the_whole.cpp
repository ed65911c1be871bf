// MISTAKE: the cross-entropy of one rank's logits is taken over its part of the vocabulary, with ids of the whole one.
// RULE: R24
// EXPECT: ERROR_R24_operation_goes_over_a_shard<.*cross_entropy
// VARIANTS: unused
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>
#include <dimwise/ranks/cross_entropy.hpp>

struct tp : mesh_axis<2> {};
struct words : choice_dim<8> {};
using words_here = shard<words, tp>;

void loss_of(const tensor<float, batch, seq, words_here>& logits, const tensor<id<words>, batch, seq>& next,
             const ranks::mesh<tp>& grid) {
#ifdef FIXED
  RESULT r = ranks::cross_entropies<words_here>(logits, next, grid);
#else
  RESULT r = cross_entropy<words_here>(logits, next);
#endif
  (void)logits, (void)next, (void)grid;
}

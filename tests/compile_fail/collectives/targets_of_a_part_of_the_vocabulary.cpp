// MISTAKE: the targets of a divided vocabulary are ids of one rank's part of it.
// RULE: R18
// EXPECT: ERROR_R18_ids_index_their_own_dimension_only<.*cross_entropy
// VARIANTS: unused
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>
#include <dimwise/ranks/cross_entropy.hpp>

struct tp : mesh_axis<2> {};
struct words : choice_dim<8> {};
using words_here = shard<words, tp>;

void loss_of(const tensor<float, batch, seq, words_here>& logits, const tensor<id<words>, batch, seq>& next,
             const tensor<id<words_here>, batch, seq>& next_here, const ranks::mesh<tp>& grid) {
#ifdef FIXED
  RESULT r = ranks::cross_entropies<words_here>(logits, next, grid);
#else
  RESULT r = ranks::cross_entropies<words_here>(logits, next_here, grid);
#endif
  (void)logits, (void)next, (void)next_here, (void)grid;
}

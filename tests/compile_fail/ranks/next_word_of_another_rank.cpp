// MISTAKE: the positions are divided, and the successor of a rank's last word is on the next rank.
// RULE: R24
// EXPECT: ERROR_R24_operation_goes_over_a_shard<.*next_word_loss.*seq
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

struct sp : mesh_axis<2> {};
using seq_here = shard<seq, sp>;

void loss_of(const tensor<float, seq_here, vocab>& part, const tensor<id<vocab>, seq_here>& words,
             const tensor<id<vocab>, seq_here>& next) {
#ifdef FIXED
  [[maybe_unused]] const auto loss = cross_entropy<vocab>(part, next);
#else
  [[maybe_unused]] const auto loss = next_word_loss<seq_here>(part, words);
#endif
  (void)words, (void)next;
}

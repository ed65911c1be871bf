// MISTAKE: the positions are divided, and the successor of a rank's last word is on the next rank.
// RULE: R24
// EXPECT: ERROR_R24_operation_goes_over_a_shard<.*next_word_loss.*words.*sp
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

struct sp : mesh_axis<2> {};
struct words : position_dim<8> {};
using words_here = shard<words, sp>;

void loss_of(const tensor<float, words_here, vocab>& part, const tensor<id<vocab>, words_here>& text,
             const tensor<id<vocab>, words_here>& next) {
#ifdef FIXED
  [[maybe_unused]] const auto loss = cross_entropy<vocab>(part, next);
#else
  [[maybe_unused]] const auto loss = next_word_loss<words_here>(part, text);
#endif
  (void)text, (void)next;
}

// MISTAKE: a prompt in the ids of one model's tokenizer goes into the table of another model.
// RULE: R18
// EXPECT: ERROR_R18_.*vocab
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/text/tokenizer.hpp>

struct other_vocab : choice_dim<EXTENT(11)> {};

void read(const text::tokenizer<vocab>& own, const text::tokenizer<other_vocab>& other) {
#ifdef FIXED
  const tensor<id<vocab>, seq> words(own.encode("a"), seq{5});
#else
  const tensor<id<other_vocab>, seq> words(other.encode("a"), seq{5});
#endif
  RESULT y = gather<vocab>(embedding, words);
  (void)own, (void)other;
}

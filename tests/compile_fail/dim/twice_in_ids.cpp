// MISTAKE: ids of words name the positions twice.
// RULE: R17
// EXPECT: ERROR_R17_dimension_occurs_twice<.*seq
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  extern tensor<id<vocab>, batch, seq> words_read;
  RESULT y = gather<vocab>(embedding, words_read);
#else
  extern tensor<id<vocab>, seq, seq> words_read;
  RESULT y = gather<vocab>(embedding, words_read);
#endif
}

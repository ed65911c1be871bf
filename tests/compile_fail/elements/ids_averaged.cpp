// MISTAKE: the mean of tokens: an id is not a number.
// RULE: R18
// EXPECT: ERROR_R18_ids_index_their_own_dimension_only<.*mean.*batch.*seq
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void bag_of_words() {
#ifdef FIXED
  RESULT y = mean<seq>(gather<vocab>(embedding, tokens));
#else
  RESULT y = mean<seq>(tokens);
#endif
}

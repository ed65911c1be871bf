// MISTAKE: the tokens themselves are added to the positions, not their embeddings.
// RULE: R18
// EXPECT: ERROR_R18_ids_index_their_own_dimension_only<.*elementwise.*batch.*seq
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void embed() {
#ifdef FIXED
  RESULT y = x + gather<vocab>(embedding, tokens);
#else
  RESULT y = x + tokens;
#endif
}

// MISTAKE: the last token of a document is rolled into the next one.
// RULE: R19
// EXPECT: ERROR_R19_packed_positions_need_their_documents<.*roll.*packed
// VARIANTS: dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct packed : packed_dim<> {};

void layer(const tensor<float, packed, d_model>& t) {
#ifdef FIXED
  RESULT r = roll<d_model>(t, 1);
#else
  RESULT r = roll<packed>(t, 1);
#endif
}

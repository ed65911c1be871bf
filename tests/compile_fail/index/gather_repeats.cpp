// MISTAKE: the ids' dimensions hide in a composite of the table.
// RULE: R17
// EXPECT: ERROR_R17_dimension_occurs_twice<.*gather
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer(const tensor<float, vocab, merged<heads, d_k>>& table, const tensor<id<vocab>, heads>& picks) {
#ifdef FIXED
  RESULT r = gather<vocab>(split<heads, d_k>(table), picks);
#else
  RESULT r = gather<vocab>(table, picks);
#endif
}

// MISTAKE: the id of a product indexes it, though it says an element of each factor.
// RULE: R18
// EXPECT: ERROR_R18_ids_of_a_composite_are_split_first<.*gather.*merged<
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer(const tensor<float, merged<heads, vocab>, d_v>& table,
           const tensor<id<merged<heads, vocab>>, merged<heads, vocab>>& order,
           const tensor<id<merged<heads, vocab>>, batch>& best) {
#ifdef FIXED
  RESULT r = gather<merged<heads, vocab>>(table, order);
#else
  RESULT r = gather<merged<heads, vocab>>(table, best);
#endif
}

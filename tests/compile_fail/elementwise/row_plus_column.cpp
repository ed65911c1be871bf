// MISTAKE: a value per query and a value per key are added, as a column and a row would be.
// RULE: R8
// EXPECT: ERROR_R8_neither_has_all_dimensions_of_the_other<.*seq.*key
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer(const tensor<float, seq>& per_query, const tensor<float, key>& per_key) {
#ifdef FIXED
  RESULT r = broadcast_like(per_query, per_key) + per_key;
#else
  RESULT r = per_query + per_key;
#endif
}

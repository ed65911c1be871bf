// MISTAKE: the declared type lacks the mark of unscaled products.
// RULE: R6
// EXPECT: ERROR_R6_declared_type_drops_or_invents_raw_or_score<.*assign.*raw<
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  tensor<float, batch, heads, seq, key, score<d_k>> p = scores<d_k>(q, k);
#else
  tensor<float, batch, heads, seq, key> p = contract<d_k>(q, k);
#endif
}

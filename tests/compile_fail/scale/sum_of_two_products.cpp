// MISTAKE: content and position products are summed, but only one of them is scaled.
// RULE: R6
// EXPECT: ERROR_R6_scaled_names_the_contracted_features<.*d_k.*raw<
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct relative : feature_dim<EXTENT(12)> {};

void attention(const tensor<float, batch, seq, heads, relative>& q_r,
               const tensor<float, batch, key, heads, relative>& k_r) {
#ifdef FIXED
  RESULT r = scaled<summed<d_k, relative>>(contract<d_k>(q, k) + contract<relative>(q_r, k_r));
#else
  RESULT r = scaled<d_k>(contract<d_k>(q, k) + contract<relative>(q_r, k_r));
#endif
}

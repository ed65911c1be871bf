// MISTAKE: a part is taken where the part is present already.
// RULE: R17
// EXPECT: ERROR_R17_dimension_occurs_twice<.*part.*d_k
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct d_q : feature_dim<EXTENT(8)> {};

void layer(const tensor<float, d_k, summed<d_q, d_k>>& t) {
#ifdef FIXED
  RESULT r = part<d_q>(t);
#else
  RESULT r = part<d_k>(t);
#endif
}

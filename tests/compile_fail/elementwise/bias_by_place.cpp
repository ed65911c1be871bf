// MISTAKE: a bias per head was named by its rows and columns; heads are its last dimension.
// RULE: R8
// EXPECT: ERROR_R8_neither_has_all_dimensions_of_the_other<.*seq.*key.*rows.*columns
// FROM: per-head bias (H,Q,K) used as (Q,K,H)
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct rows : position_dim<seq::static_extent> {};
struct columns : position_dim<key::static_extent> {};

void layer(const tensor<float, rows, columns, heads>& bias) {
#ifdef FIXED
  RESULT r = s + relabel<rows, seq>(relabel<columns, key>(bias));
#else
  RESULT r = s + bias;
#endif
}

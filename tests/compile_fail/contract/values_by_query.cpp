// MISTAKE: each query's weights are summed with the values at the queries.
// RULE: R5
// EXPECT: ERROR_R5_weights_are_contracted_over_their_own_dimension<.*seq
// FROM: weights*V indexes V by query
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
  auto values = contract<d_model>(x, w_v);
#ifdef FIXED
  RESULT r = contract<key>(a, rename<seq, key>(values));
#else
  RESULT r = contract<seq>(a, values);
#endif
}

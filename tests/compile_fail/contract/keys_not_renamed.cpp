// MISTAKE: the keys stand at `seq` like the queries, so the scores would be a diagonal.
// RULE: R2
// EXPECT: ERROR_R2_shared_dimension_is_not_parallel<.*scores.*seq
// FROM: named diagonal: q and k both carry the same Seq name
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
  auto keys = contract<d_model>(x, w_k);
#ifdef FIXED
  RESULT r = scores<d_k>(q, rename<seq, key>(keys));
#else
  RESULT r = scores<d_k>(q, keys);
#endif
}

// MISTAKE: the keys of multi-head attention stand at the positions of the queries.
// RULE: R2
// EXPECT: ERROR_R2_shared_dimension_is_not_parallel<.*scores.*seq
// VARIANTS: equal unused dynamic
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = many_heads(x, rename<seq, key>(x), rename<seq, key>(x));
#else
  RESULT y = many_heads(x, x, x);
#endif
}

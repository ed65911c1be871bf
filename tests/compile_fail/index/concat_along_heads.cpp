// MISTAKE: new keys are appended to the cache along the heads.
// RULE: R10
// EXPECT: ERROR_R10_concat_of_a_static_extent_names_its_result<.*concat.*lanes
// FROM: cache appended along heads/batch
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct lanes : heads_dim<4> {};
struct past : position_dim<> {};

void layer(const tensor<float, batch, lanes, past, d_k>& cache, const tensor<float, batch, lanes, past, d_k>& fresh) {
#ifdef FIXED
  RESULT r = concat<past>(cache, fresh);
#else
  RESULT r = concat<lanes>(cache, fresh);
#endif
}

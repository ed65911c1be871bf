// MISTAKE: each rank takes the frequencies of sinusoidal positions as if its part of the features were all of them.
// RULE: R24
// EXPECT: ERROR_R24_operation_goes_over_a_shard<.*sinusoid.*shard<.*features, .*tp
// VARIANTS: unused
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct tp : mesh_axis<2> {};
struct features : feature_dim<8> {};
using features_here = shard<features, tp>;

void positions() {
#ifdef FIXED
  RESULT p = sinusoid<src, features>(src{4});
#else
  RESULT p = sinusoid<src, features_here>(src{4});
#endif
}

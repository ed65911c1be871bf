// MISTAKE: a sum has the same part twice: it could not be taken by its name.
// RULE: R17
// EXPECT: ERROR_R17_dimension_occurs_twice<.*d_k
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  tensor<float, seq, summed<d_k, d_v>> w;
#else
  tensor<float, seq, summed<d_k, d_k>> w;
#endif
}

// MISTAKE: input and output of a square weight are one dimension.
// RULE: R17
// EXPECT: ERROR_R17_dimension_occurs_twice<.*d_model
// FROM: repeated index takes the diagonal of W
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  tensor<float, d_model, out<d_model>> w;
#else
  tensor<float, d_model, d_model> w;
#endif
}

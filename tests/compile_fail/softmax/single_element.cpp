// MISTAKE: softmax over one element: every weight is 1.
// RULE: R5
// EXPECT: ERROR_R5_softmax_over_a_single_element<.*one, .*extent<1
// FROM: softmax over a size-1 axis -> all weights 1
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct one : position_dim<1> {};

void attention(const tensor<float, batch, heads, seq, one>& t) {
#ifdef FIXED
  RESULT r = softmax<key>(s);
#else
  RESULT r = softmax<one>(t);
#endif
}

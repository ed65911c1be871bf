// MISTAKE: queries and distances of a skew are one dimension.
// RULE: R17
// EXPECT: ERROR_R17_dimension_occurs_twice<.*skew.*seq.*seq
// VARIANTS: equal unused
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer(const tensor<float, seq, src>& t) {
#ifdef FIXED
  RESULT r = skew<seq, src, key>(t, key{});
#else
  RESULT r = skew<seq, seq, key>(t, key{});
#endif
}

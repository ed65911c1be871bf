// MISTAKE: queries and keys of quantized weights have one name.
// RULE: R17
// EXPECT: ERROR_R17_dimension_occurs_twice<.*seq
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  tensor<float, batch, heads, seq, key> stored;
#else
  tensor<float, batch, heads, seq, seq> stored;
#endif
}

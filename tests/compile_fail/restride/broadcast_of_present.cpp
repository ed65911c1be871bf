// MISTAKE: a batch is added to what has one.
// RULE: R17
// EXPECT: ERROR_R17_dimension_occurs_twice<.*broadcast.*batch
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer(const tensor<float, seq, d_model>& encoding) {
#ifdef FIXED
  RESULT r = broadcast<batch>(encoding, batch{});
#else
  RESULT r = broadcast<batch>(x, batch{});
#endif
}

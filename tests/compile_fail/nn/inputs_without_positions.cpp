// MISTAKE: the keys have no positions to attend to.
// RULE: R16
// EXPECT: ERROR_R16_query_key_and_value_are_told_apart_by_dimensions<.*d_model
// VARIANTS: equal unused dynamic
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = many_heads(x, memory, memory);
#else
  RESULT y = many_heads(x, at<src>(memory, 0), at<src>(memory, 0));
#endif
}

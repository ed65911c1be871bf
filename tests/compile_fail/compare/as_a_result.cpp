// MISTAKE: two tensors are compared, and the answer is the result of a function that gives a bool.
// RULE: R7
// EXPECT: ERROR_R7_tensor_is_no_condition<.*seq.*vocab
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

bool same() {
#ifdef FIXED
  return sum<batch, seq, vocab>(indicator(allow(logits != logits))) == 0;
#else
  return logits == logits;
#endif
}

// MISTAKE: the gradient of the table is that of all examples, but only the positions are summed over.
// RULE: R3
// EXPECT: ERROR_R3_.*assign
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer(vocab n) {
#ifdef FIXED
  tensor<float, vocab, d_model> r = scatter_add<vocab, batch, seq>(x, tokens, n);
#else
  tensor<float, vocab, d_model> r = scatter_add<vocab, seq>(x, tokens, n);
#endif
}

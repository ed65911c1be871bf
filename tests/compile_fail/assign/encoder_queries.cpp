// MISTAKE: the queries of cross-attention are projected from the encoder.
// RULE: R3
// EXPECT: ERROR_R3_assigned_dimensions_differ<.*assign.*seq.*src
// FROM: cross-attention K,V taken from the decoder (or Q from the encoder)
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  tensor<float, batch, seq, heads, d_k> queries = contract<d_model>(x, w_q);
#else
  tensor<float, batch, seq, heads, d_k> queries = contract<d_model>(memory, w_q);
#endif
}

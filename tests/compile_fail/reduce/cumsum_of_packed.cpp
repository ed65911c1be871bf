// MISTAKE: a running sum goes on from one document into the next.
// RULE: R19
// EXPECT: ERROR_R19_packed_positions_need_their_documents<.*cumsum.*packed_seq
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct packed_seq : packed_dim<> {};

void layer(const tensor<float, packed_seq, d_model>& all) {
#ifdef FIXED
  RESULT r = layer_norm<d_model>(all);
#else
  RESULT r = cumsum<packed_seq>(all);
#endif
}

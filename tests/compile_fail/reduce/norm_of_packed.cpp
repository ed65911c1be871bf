// MISTAKE: one norm over the positions of all packed documents.
// RULE: R19
// EXPECT: ERROR_R19_packed_positions_need_their_documents<.*norm.*packed_seq
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct packed_seq : packed_dim<> {};

void layer(const tensor<float, packed_seq, d_model>& all) {
#ifdef FIXED
  RESULT r = norm<d_model>(all);
#else
  RESULT r = norm<packed_seq>(all);
#endif
}

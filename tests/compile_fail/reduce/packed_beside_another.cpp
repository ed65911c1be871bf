// MISTAKE: a mean over documents hides in a mask of another dimension.
// RULE: R19
// EXPECT: ERROR_R19_packed_positions_need_their_documents<.*mean.*packed_seq
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct packed_seq : packed_dim<> {};

void layer(const tensor<float, src, packed_seq, d_model>& t) {
#ifdef FIXED
  RESULT r = mean<src>(t, padding<src>(2));
#else
  RESULT r = mean<src, packed_seq>(t, padding<src>(2));
#endif
}

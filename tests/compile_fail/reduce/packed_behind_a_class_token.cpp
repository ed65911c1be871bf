// MISTAKE: the mean over a class token and the positions of all packed documents.
// RULE: R19
// EXPECT: ERROR_R19_packed_positions_need_their_documents<.*mean.*packed_seq
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct packed_seq : packed_dim<> {};
struct cls : position_dim<1> {};
using all = summed<cls, packed_seq>;

void layer(const tensor<float, all, d_model>& words) {
#ifdef FIXED
  RESULT r = mean<all>(words, all_documents{});
#else
  RESULT r = mean<all>(words);
#endif
}

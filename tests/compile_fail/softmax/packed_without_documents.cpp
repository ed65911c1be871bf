// MISTAKE: softmax over the positions of all packed documents.
// RULE: R19
// EXPECT: ERROR_R19_packed_positions_need_their_documents<.*softmax.*packed_key
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct packed_seq : packed_dim<> {};
struct packed_key : prime<packed_seq> {};

void attention(const tensor<float, heads, packed_seq, packed_key, score<d_k>>& t) {
#ifdef FIXED
  RESULT r = softmax<packed_key>(masked(t, document<packed_seq, packed_key>{}));
#else
  RESULT r = softmax<packed_key>(t);
#endif
}

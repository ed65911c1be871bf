// MISTAKE: packed positions get ALiBi, but no mask that keeps their documents apart.
// RULE: R19
// EXPECT: ERROR_R19_packed_positions_need_their_documents<.*softmax.*packed_key
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct packed_seq : packed_dim<> {};
struct packed_key : prime<packed_seq> {};

void attention(const tensor<float, heads, packed_seq, packed_key, score<d_k>>& s) {
  auto near = biased(s, alibi<packed_seq, packed_key, heads>{});
#ifdef FIXED
  RESULT a = softmax<packed_key>(masked(near, document<packed_seq, packed_key>{}));
#else
  RESULT a = softmax<packed_key>(near);
#endif
}

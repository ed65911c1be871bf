// MISTAKE: one prefix for a pack of several documents: only the first one has it.
// RULE: R19
// EXPECT: ERROR_R19_packed_positions_need_their_documents<.*prefix.*packed_seq.*packed_key
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct packed_seq : packed_dim<> {};
struct packed_key : prime<packed_seq> {};

void attention(const tensor<float, packed_seq, packed_key, score<d_k>>& s,
               const tensor<bool, packed_seq, packed_key>& visible) {
#ifdef FIXED
  RESULT a = softmax<packed_key>(
      masked(s, document<packed_seq, packed_key>{} & (causal<packed_seq, packed_key>{} | allow(visible))));
#else
  RESULT a = softmax<packed_key>(masked(s, document<packed_seq, packed_key>{} & prefix<packed_seq, packed_key>{3}));
#endif
}

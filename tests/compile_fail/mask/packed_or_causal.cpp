// MISTAKE: documents are kept apart or the mask is causal: one of both does not keep them apart.
// RULE: R19
// EXPECT: ERROR_R19_packed_positions_need_their_documents<.*masked
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct packed_seq : packed_dim<> {};
struct packed_key : prime<packed_seq> {};

void attention(const tensor<float, heads, packed_seq, packed_key, score<d_k>>& t) {
#ifdef FIXED
  RESULT r = masked(t, causal<packed_seq, packed_key>{} & document<packed_seq, packed_key>{});
#else
  RESULT r = masked(t, causal<packed_seq, packed_key>{} | document<packed_seq, packed_key>{});
#endif
}

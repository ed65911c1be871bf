// MISTAKE: a weight over positions mixes the documents of a packed dimension.
// RULE: R19
// EXPECT: ERROR_R19_packed_positions_need_their_documents<.*packed_seq
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct packed_seq : packed_dim<> {};

void attention(const tensor<float, packed_seq, d_model>& all, const tensor<float, packed_seq, d_ff>& mixer,
               const tensor<float, d_model, d_ff>& layer) {
#ifdef FIXED
  RESULT r = contract<d_model>(all, layer);
#else
  RESULT r = contract<packed_seq>(all, mixer);
#endif
}

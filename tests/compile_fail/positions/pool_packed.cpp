// MISTAKE: pooling windows reach from one packed document into the next.
// RULE: R19
// EXPECT: ERROR_R19_packed_positions_need_their_documents<.*pool
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct packed_seq : packed_dim<> {};
struct steps : position_dim<> {};
struct kernel : position_dim<3> {};

void layer(const tensor<float, packed_seq, d_model>& all, const tensor<float, steps, d_model>& t) {
#ifdef FIXED
  RESULT r = pool<steps, kernel>(t);
#else
  RESULT r = pool<packed_seq, kernel>(all);
#endif
}

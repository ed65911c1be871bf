// MISTAKE: a document mask for positions that are not packed.
// RULE: R19
// EXPECT: ERROR_R19_packed_positions_need_their_documents<.*document.*seq.*key
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct packed_seq : packed_dim<> {};
struct packed_key : prime<packed_seq> {};

void attention() {
#ifdef FIXED
  [[maybe_unused]] auto m = document<packed_seq, packed_key>{};
#else
  [[maybe_unused]] auto m = document<seq, key>{};
#endif
}

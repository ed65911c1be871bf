// MISTAKE: a document mask between two packed dimensions that do not belong together.
// RULE: R19
// EXPECT: ERROR_R19_packed_positions_need_their_documents<.*document.*packed_seq.*packed_src
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct packed_seq : packed_dim<> {};
struct packed_key : prime<packed_seq> {};
struct packed_src : packed_dim<> {};

void attention() {
#ifdef FIXED
  [[maybe_unused]] auto m = document<packed_seq, packed_key>{};
#else
  [[maybe_unused]] auto m = document<packed_seq, packed_src>{};
#endif
}

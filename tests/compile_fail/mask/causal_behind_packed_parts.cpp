// MISTAKE: a causal mask over packed keys behind a prefix, with no word of their documents.
// RULE: R19
// EXPECT: ERROR_R19_packed_positions_need_their_documents<.*causal.*packed
// VARIANTS: dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct learned : position_dim<3> {};
struct packed : packed_dim<> {};
struct packed_key : prime<packed> {};

void attention() {
#ifdef FIXED
  const auto r = causal<packed, packed_key>{} & document<packed, packed_key>{};
  (void)r;
#else
  const auto r = causal<packed, summed<learned, packed_key>>{};
  (void)r;
#endif
}

// MISTAKE: every query head meets every key head: the heads are mixed before scoring.
// RULE: R11
// EXPECT: ERROR_R11_every_head_against_every_head<.*mixed_heads
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct mixed_heads : prime<heads> {};

void attention(const tensor<float, heads, mixed_heads>& mix) {
#ifdef FIXED
  RESULT r = contract<heads>(scores<d_k>(q, k), mix);
#else
  RESULT r = scores<d_k>(rename<heads, mixed_heads>(q), k);
#endif
}

// MISTAKE: what is rotated is added in place to what is not.
// RULE: R9
// EXPECT: ERROR_R9_
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  auto turned = rotary<seq, d_k>(q);
  [[maybe_unused]] tensor sum_of = turned + turned;
#else
  q += rotary<seq, d_k>(q);
#endif
}

// MISTAKE: an attention over other values, with a function of its scores that is a local lambda.
// RULE: R3
// EXPECT: ERROR_R3_other_positions_of_the_sequence<.*key.*src
// VARIANTS: unused
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  auto cap = [](const auto& t) { return tanh(t); };
  RESULT y = nn::attention<d_k, key>(q, k, v, cap);
#else
  auto cap = [](const auto& t) { return tanh(t); };
  RESULT y = nn::attention<d_k, key>(q, k, v_src, cap);
#endif
}

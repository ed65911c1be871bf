// MISTAKE: an attention over other values, with a function of its scores that is a local lambda.
// RULE: R3
// EXPECT: ERROR_R3_values_are_at_other_positions_than_the_weights<.*key.*src
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

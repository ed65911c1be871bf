// MISTAKE: a tensor is transposed as a data member.
// RULE: R1
// EXPECT: ERROR_R1_operation_has_another_name<.*T.*permute
// VARIANTS: equal dynamic
#include "../prelude.hpp"

void step() {
#ifdef FIXED
  [[maybe_unused]] const tensor y = contract<d_model>(x, permute<d_k, heads, d_model>(w_q));
#else
  [[maybe_unused]] const tensor y = contract<d_model>(x, w_q.T);
#endif
}

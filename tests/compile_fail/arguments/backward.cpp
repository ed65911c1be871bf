// MISTAKE: a loss is differentiated as in another library.
// RULE: R1
// EXPECT: ERROR_R1_operation_has_another_name<.*backward.*gradient
// VARIANTS: equal dynamic
#include "../prelude.hpp"

void step() {
#ifdef FIXED
  [[maybe_unused]] const auto y = mean<batch, seq, d_model>(square(x));
#else
  mean<batch, seq, d_model>(square(x)).backward();
#endif
}

// MISTAKE: an expr is declared as a tensor is, without a shape.
// RULE: R1
// EXPECT: ERROR_R1_expr_names_a_shape<.*over<.*d_model
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  [[maybe_unused]] expr<float, shape<d_model>> e;
#else
  [[maybe_unused]] expr<float, d_model> e;
#endif
}

// MISTAKE: the losses of the positions are added to a number.
// RULE: R8
// EXPECT: ERROR_R8_tensor_with_dimensions_is_no_number<.*batch.*seq
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void step(double& total) {
#ifdef FIXED
  total += mean<batch, seq, d_model>(square(x));
#else
  total += mean<d_model>(square(x));
#endif
}

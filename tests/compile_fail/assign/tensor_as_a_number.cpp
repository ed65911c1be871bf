// MISTAKE: the mean over the positions is stored as one number; it has a value for each sequence and feature.
// RULE: R8
// EXPECT: ERROR_R8_tensor_with_dimensions_is_no_number<.*batch.*d_model
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void step() {
#ifdef FIXED
  [[maybe_unused]] const float loss = mean<batch, seq, d_model>(square(x));
#else
  [[maybe_unused]] const float loss = mean<seq>(square(x));
#endif
}

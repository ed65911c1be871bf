// MISTAKE: the encoder's output is taken apart along the decoder's positions.
// RULE: R1
// EXPECT: ERROR_R1_dimension_is_not_in_the_operand<.*unstack.*seq.*operand_shape<.*batch, .*src, .*d_model>
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  [[maybe_unused]] const auto all = unstack<src>(memory);
#else
  [[maybe_unused]] const auto all = unstack<seq>(memory);
#endif
}

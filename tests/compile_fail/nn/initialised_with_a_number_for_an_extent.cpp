// MISTAKE: a run-time extent is given as a number, without its dimension.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*initialise.*feed_forward.*int>
// VARIANTS: equal
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

struct inner : feature_dim<> {};

void begin() {
#ifdef FIXED
  [[maybe_unused]] const auto model =
      nn::initialised<nn::feed_forward<d_model, inner>>(nn::xavier_uniform(42), inner{13});
#else
  [[maybe_unused]] const auto model = nn::initialised<nn::feed_forward<d_model, inner>>(nn::xavier_uniform(42), 13);
#endif
}

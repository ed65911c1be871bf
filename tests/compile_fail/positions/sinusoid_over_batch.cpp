// MISTAKE: a positional encoding over the batch.
// RULE: R13
// EXPECT: ERROR_R13_sinusoid_takes_positions_and_features<.*batch.*d_model
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = x + sinusoid<seq, d_model>(seq{}, d_model{});
#else
  RESULT r = x + sinusoid<batch, d_model>(batch{}, d_model{});
#endif
}

// MISTAKE: positions and features of the encoding are swapped.
// RULE: R13
// EXPECT: ERROR_R13_sinusoid_takes_positions_and_features<.*d_model.*seq
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = sinusoid<seq, d_model>(seq{}, d_model{});
#else
  RESULT r = sinusoid<d_model, seq>(d_model{}, seq{});
#endif
}

// MISTAKE: an expression of other positions is returned as one of the decoder's.
// RULE: R3
// EXPECT: ERROR_R3_assigned_dimensions_differ<.*declared<.*batch, .*seq, .*d_model>.*computed<.*batch, .*src, .*d_model>
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

expr<float, shape<batch, seq, d_model>> state() {
#ifdef FIXED
  return x + x;
#else
  return memory + memory;
#endif
}

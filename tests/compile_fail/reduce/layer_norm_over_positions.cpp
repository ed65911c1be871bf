// MISTAKE: layer_norm goes over the sequence.
// RULE: R13
// EXPECT: ERROR_R13_norm_takes_features<.*layer_norm.*seq
// FROM: LayerNorm over sequence (or over everything)
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = layer_norm<d_model>(x);
#else
  RESULT r = layer_norm<seq>(x);
#endif
}

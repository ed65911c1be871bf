// MISTAKE: a linear layer names two dimensions, as a layer of PyTorch has two sizes.
// RULE: R1
// EXPECT: ERROR_R1_linear_names_its_sides<.*d_model.*d_ff
// VARIANTS: unused
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  const nn::linear<nn::from<d_model>, nn::to<d_ff>> up;
  RESULT y = up(x);
#else
  const nn::linear<d_model, d_ff> up;
  RESULT y = up(x);
#endif
}

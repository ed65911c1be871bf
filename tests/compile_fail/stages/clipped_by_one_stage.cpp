// MISTAKE: each stage clips by the norm of its own parameters: every stage by another factor.
// RULE: R24
// EXPECT: ERROR_R24_norm_of_a_divided_model_takes_the_mesh<.*clip_norm.*pp
#include "stages_prelude.hpp"

void train(const one_stage<float>& gradient, const ranks::mesh<pp>& grid) {
#ifdef FIXED
  [[maybe_unused]] const auto clipped = clip_norm(gradient, 1.0, grid);
#else
  [[maybe_unused]] const auto clipped = clip_norm(gradient, 1.0);
#endif
  (void)grid;
}

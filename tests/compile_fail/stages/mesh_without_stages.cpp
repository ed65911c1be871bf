// MISTAKE: the mesh divides the batch only.
// RULE: R25
// EXPECT: ERROR_R25_mesh_has_no_such_axis<.*micro_batches.*pp.*mesh<.*dp
#include "stages_prelude.hpp"

void train(const one_stage<float>& m, const ranks::mesh<dp>& batches, const ranks::mesh<dp, pp>& grid) {
#ifdef FIXED
  [[maybe_unused]] const auto g = value_and_gradient(m, micro_batches<passed>(4, first, layers, loss), grid);
#else
  [[maybe_unused]] const auto g = value_and_gradient(m, micro_batches<passed>(4, first, layers, loss), batches);
#endif
  (void)batches, (void)grid;
}

// MISTAKE: the gradients of the stages, which belong to other parameters, are added.
// RULE: R23
// EXPECT: ERROR_R23_operand_is_no_partial_sum<.*all_reduce.*pp
#include "stages_prelude.hpp"

void train(one_stage<float>& m, sgd<one_stage<float>>& optimiser, const ranks::mesh<pp>& grid) {
  const auto g = value_and_gradient(m, micro_batches<passed>(4, first, layers, loss), grid);
#ifdef FIXED
  optimiser.step(m, g.gradient);
#else
  (void)all_reduce<pp>(g.gradient, grid);
#endif
  (void)optimiser;
}

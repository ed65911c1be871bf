// MISTAKE: the layers of a stage give what the next stage does not take: the sum over the positions.
// RULE: R8
// EXPECT: ERROR_R8_assignment_never_broadcasts<.*assign.*d_model
#include "stages_prelude.hpp"

void train(const one_stage<float>& m, const ranks::mesh<pp>& grid) {
#ifdef FIXED
  const auto given = layers;
#else
  const auto given = [](const auto& stage, const auto& x, std::size_t) { return sum<seq>(x * stage.gain); };
#endif
  [[maybe_unused]] const auto g = value_and_gradient(m, micro_batches<passed>(4, first, given, loss), grid);
}

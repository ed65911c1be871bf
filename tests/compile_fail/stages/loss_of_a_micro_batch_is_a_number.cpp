// MISTAKE: the losses of micro-batches are numbers, so one with few tokens would count as much as one with many.
// RULE: R22
// EXPECT: ERROR_R22_batches_are_added_as_averages
#include "stages_prelude.hpp"

void train(const one_stage<float>& m, const ranks::mesh<pp>& grid) {
#ifdef FIXED
  const auto of_batch = loss;
#else
  const auto of_batch = [](const auto&, const auto& x, std::size_t) { return mean<batch, seq, d_model>(square(x)); };
#endif
  [[maybe_unused]] const auto g = value_and_gradient(m, micro_batches<passed>(4, first, layers, of_batch), grid);
}

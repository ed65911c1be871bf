// MISTAKE: the batch is not divided along dp, so the ranks along it have the whole gradient already.
// RULE: R23
// EXPECT: ERROR_R23_operand_is_no_partial_sum<.*all_reduce.*dp
#include "stages_prelude.hpp"

using examples_here = shard<batch, dp>;
using passed_here = tensor<float, examples_here, seq, d_model>;

void train(const one_stage<float>& m, const passed_here& part, const ranks::mesh<dp, pp>& grid) {
#ifdef FIXED
  const auto begin = [&](const auto&, std::size_t) { return part; };
  const auto end = [&](const auto&, const auto& given, std::size_t) { return mean_squared_error(given, part); };
  const auto batches = micro_batches<passed_here>(4, begin, layers, end);
#else
  const auto batches = micro_batches<passed>(4, first, layers, loss);
#endif
  [[maybe_unused]] const auto g = value_and_gradient(m, batches, grid, reduced<dp>(grid));
  (void)part;
}

// MISTAKE: the sums before the last batch are of one rank alone, so they are complete and not terms along dp.
// RULE: R23
// EXPECT: ERROR_R23_operand_is_no_partial_sum<.*all_reduce.*dp
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>
#include <dimwise/ranks/training.hpp>

struct dp : mesh_axis<2> {};
struct examples : batch_dim<8> {};
using examples_here = shard<examples, dp>;
using weight = tensor<float, d_model>;

void train(const weight& w, const tensor<float, examples_here, d_model>& part, const ranks::mesh<dp>& grid) {
#ifdef FIXED
  const accumulated<weight, dp> total(w);
#else
  const accumulated<weight> total(w);
#endif
  const auto loss = [&](const auto& p) { return mean_squared_error(part * p, part); };
  [[maybe_unused]] const auto r = value_and_gradient(total, loss, reduced<dp>(grid));
}

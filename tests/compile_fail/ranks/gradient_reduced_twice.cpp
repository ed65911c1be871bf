// MISTAKE: a gradient that is complete is reduced once more, and counts twice.
// RULE: R23
// EXPECT: ERROR_R23_operand_is_no_partial_sum<.*all_reduce.*dp
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>
#include <dimwise/ranks/training.hpp>

#include <tuple>

struct dp : mesh_axis<2> {};
struct examples : batch_dim<8> {};
using examples_here = shard<examples, dp>;

void train(const std::tuple<tensor<float, d_model>>& model, const tensor<float, examples_here, d_model>& part,
           const ranks::mesh<dp>& grid) {
  const auto loss = [&](const auto& m) { return mean<examples_here>(contract<d_model>(part, std::get<0>(m))); };
  const auto g = gradient(model, loss);
#ifdef FIXED
  [[maybe_unused]] const auto r = all_reduce<dp>(g, grid);
#else
  const auto whole = all_reduce<dp>(g, grid);
  [[maybe_unused]] const auto r = all_reduce<dp>(whole, grid);
#endif
}

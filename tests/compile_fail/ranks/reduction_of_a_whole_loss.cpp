// MISTAKE: the batch is not divided, so every rank has the whole gradient already.
// RULE: R23
// EXPECT: ERROR_R23_operand_is_no_partial_sum<.*all_reduce.*dp
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>
#include <dimwise/ranks/training.hpp>

struct dp : mesh_axis<2> {};
struct examples : batch_dim<8> {};
using examples_here = shard<examples, dp>;

void train(const tensor<float, d_model>& w, const tensor<float, examples_here, d_model>& part,
           const tensor<float, examples, d_model>& all, const ranks::mesh<dp>& grid) {
#ifdef FIXED
  const auto loss = [&](const auto& p) { return mean<examples_here>(contract<d_model>(part, p)); };
#else
  const auto loss = [&](const auto& p) { return mean<examples>(contract<d_model>(all, p)); };
#endif
  [[maybe_unused]] const auto r = value_and_gradient(w, loss, reduced<dp>(grid));
  (void)part, (void)all;
}

// MISTAKE: the loss is the term of one rank, and its gradient is taken for that of the sum.
// RULE: R21
// EXPECT: ERROR_R21_loss_is_one_number<.*partial<.*dp
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

struct dp : mesh_axis<2> {};
struct examples : batch_dim<8> {};
using examples_here = shard<examples, dp>;

void trained(const tensor<float, d_model>& w, const tensor<float, examples_here, d_model>& part,
             const tensor<float, batch, d_model>& whole) {
#ifdef FIXED
  [[maybe_unused]] auto g = gradient(w, [&](const auto& p) { return mean<batch>(contract<d_model>(whole, p)); });
#else
  [[maybe_unused]] auto g = gradient(w, [&](const auto& p) { return mean<examples_here>(contract<d_model>(part, p)); });
#endif
  (void)part, (void)whole;
}

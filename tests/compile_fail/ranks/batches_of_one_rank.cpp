// MISTAKE: the batches of this rank are accumulated as if no other rank had batches.
// RULE: R23
// EXPECT: ERROR_R23_gradient_is_reduced_first<.*accumulated.*dp
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>
#include <dimwise/ranks/training.hpp>

struct dp : mesh_axis<2> {};
struct examples : batch_dim<8> {};
using examples_here = shard<examples, dp>;

void train(const tensor<float, d_model, vocab>& w, const tensor<float, examples_here, d_model>& part,
           const tensor<id<vocab>, examples_here>& wanted, const ranks::mesh<dp>& grid) {
  const auto loss = [&](const auto& p) { return cross_entropy<vocab>(contract<d_model>(part, p), wanted); };
#ifdef FIXED
  accumulated<tensor<float, d_model, vocab>, dp> total(w);
  total.add(loss);
  (void)all_reduce<dp>(total.terms(), grid);
#else
  accumulated<tensor<float, d_model, vocab>> total(w);
  total.add(loss);
#endif
  (void)grid;
}

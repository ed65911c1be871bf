// MISTAKE: the optimiser steps by this rank's terms of the gradient, so that the ranks train different models.
// RULE: R23
// EXPECT: ERROR_R23_gradient_is_reduced_first<.*step.*dp
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>
#include <dimwise/ranks/training.hpp>

struct dp : mesh_axis<2> {};
struct examples : batch_dim<8> {};
using examples_here = shard<examples, dp>;

void train(tensor<float, d_model>& w, const tensor<float, examples_here, d_model>& part, const ranks::mesh<dp>& grid) {
  sgd optimiser(w, {.rate = 0.1});
  const auto g = gradient(w, [&](const auto& p) { return mean<examples_here>(contract<d_model>(part, p)); });
#ifdef FIXED
  optimiser.step(w, all_reduce<dp>(g, grid));
#else
  optimiser.step(w, g);
#endif
  (void)grid;
}

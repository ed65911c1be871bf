// MISTAKE: the rate of a sharded AdamW is a number without its name.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*sharded_adamw.*dp
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/ranks/training.hpp>

struct dp : mesh_axis<> {};

void train(const tensor<float, d_model>& model, const ranks::mesh<dp>& grid) {
#ifdef FIXED
  [[maybe_unused]] const auto optimiser = sharded_adamw<dp>(model, {.rate = 1e-3}, grid);
#else
  [[maybe_unused]] const auto optimiser = sharded_adamw<dp>(model, 1e-3, grid);
#endif
}

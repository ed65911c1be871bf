// MISTAKE: the loss that is printed is the mean over this rank's tokens, and not over those of all ranks.
// RULE: R24
// EXPECT: ERROR_R24_mean_over_a_shard_divides_by_the_whole_extent<.*mean.*examples.*dp
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>
#include <dimwise/ranks/training.hpp>

struct dp : mesh_axis<2> {};
struct examples : batch_dim<8> {};
using examples_here = shard<examples, dp>;

void loss_of(const tensor<float, examples_here, vocab>& logits, const tensor<id<vocab>, examples_here>& wanted,
             const ranks::mesh<dp>& grid) {
  const average loss = cross_entropy<vocab>(logits, wanted);
#ifdef FIXED
  [[maybe_unused]] const auto value = all_reduce<dp>(loss, grid).value();
#else
  [[maybe_unused]] const auto value = loss.value();
#endif
  (void)grid;
}

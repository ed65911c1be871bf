// MISTAKE: the loss of a part of the batch is divided by the part, and added over the ranks.
// RULE: R24
// EXPECT: ERROR_R24_mean_over_a_shard_divides_by_the_whole_extent<.*mean.*shard<.*examples, .*dp
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct dp : mesh_axis<> {};
struct examples : batch_dim<> {};
using examples_here = shard<examples, dp>;

void loss_of(const tensor<float, examples_here, seq>& losses) {
#ifdef FIXED
  RESULT loss = mean<examples_here, seq>(losses, examples{32});
#else
  RESULT loss = mean<examples_here, seq>(losses);
#endif
}

// MISTAKE: heads are divided for the scores; the positions must be whole for the softmax.
// RULE: R24
// EXPECT: ERROR_R24_operation_goes_over_a_shard<.*softmax.*shard<.*keys, .*tp
// VARIANTS: unused
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/ranks/collectives.hpp>

struct tp : mesh_axis<2> {};
struct hidden : feature_dim<8> {};
using hidden_here = shard<hidden, tp>;

struct lanes : heads_dim<4> {};
struct keys : position_dim<6> {};
using keys_here = shard<keys, tp>;

void attention(const tensor<float, lanes, seq, keys_here>& logits, const ranks::mesh<tp>& grid) {
#ifdef FIXED
  RESULT r = softmax<keys>(all_to_all<tp, keys, lanes>(logits, grid));
#else
  RESULT r = softmax<keys_here>(logits);
#endif
  (void)grid;
}

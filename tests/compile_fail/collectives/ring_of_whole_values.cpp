// MISTAKE: the scores are those of this rank's keys, and the values are those of all ranks.
// RULE: R24
// EXPECT: ERROR_R24_whole_dimension_meets_its_shard<.*ring_attention.*key
// VARIANTS: unused
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/ranks/ring_attention.hpp>

struct sp : mesh_axis<> {};
using seq_here = shard<seq, sp>;
using key_here = shard<key, sp>;

void attends(const tensor<float, batch, seq_here, d_k>& q, const tensor<float, batch, key_here, d_k>& k,
             const tensor<float, batch, key_here, d_v>& v, const tensor<float, batch, key, d_v>& all_v,
             const ranks::mesh<sp>& grid) {
#ifdef FIXED
  RESULT y = ring_attention<key_here>(scores<d_k>(q, k), v, grid);
#else
  RESULT y = ring_attention<key_here>(scores<d_k>(q, k), all_v, grid);
#endif
  (void)v, (void)all_v;
}

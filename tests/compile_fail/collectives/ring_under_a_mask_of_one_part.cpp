// MISTAKE: a mask holds elements for the keys of this rank, and the keys of other ranks arrive.
// RULE: R24
// EXPECT: ERROR_R24_operation_goes_over_a_shard<.*ring_attention.*key
// VARIANTS: unused
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/ranks/ring_attention.hpp>

struct sp : mesh_axis<> {};
using seq_here = shard<seq, sp>;
using key_here = shard<key, sp>;

void attends(const tensor<float, batch, seq_here, d_k>& q, const tensor<float, batch, key_here, d_k>& k,
             const tensor<float, batch, key_here, d_v>& v, const tensor<bool, batch, key_here>& shown,
             const ranks::mesh<sp>& grid) {
#ifdef FIXED
  RESULT y = ring_attention<key_here>(masked(scores<d_k>(q, k), causal<seq_here, key_here>{}), v, grid);
#else
  RESULT y = ring_attention<key_here>(masked(scores<d_k>(q, k), allow(shown)), v, grid);
#endif
  (void)shown;
}

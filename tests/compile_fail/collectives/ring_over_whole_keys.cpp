// MISTAKE: the keys are whole on every rank, and their blocks are to go around the ring.
// RULE: R24
// EXPECT: ERROR_R24_operand_has_no_such_shard<.*ring_attention.*key
// VARIANTS: unused
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/ranks/ring_attention.hpp>

struct sp : mesh_axis<> {};
using seq_here = shard<seq, sp>;
using key_here = shard<key, sp>;

void attends(const tensor<float, batch, seq_here, d_k>& q, const tensor<float, batch, key_here, d_k>& k,
             const tensor<float, batch, key_here, d_v>& v, const tensor<float, batch, key, d_k>& all_k,
             const tensor<float, batch, key, d_v>& all_v, const ranks::mesh<sp>& grid) {
#ifdef FIXED
  RESULT y = ring_attention<key_here>(scores<d_k>(q, k), v, grid);
#else
  RESULT y = ring_attention<key>(scores<d_k>(q, all_k), all_v, grid);
#endif
  (void)k, (void)v, (void)all_k, (void)all_v;
}

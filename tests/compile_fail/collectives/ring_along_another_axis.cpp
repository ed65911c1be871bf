// MISTAKE: the mesh has no axis along which the keys are divided.
// RULE: R25
// EXPECT: ERROR_R25_mesh_has_no_such_axis<.*ring_attention.*sp
// VARIANTS: unused
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/ranks/ring_attention.hpp>

struct sp : mesh_axis<> {};
struct tp : mesh_axis<> {};
using seq_here = shard<seq, sp>;
using key_here = shard<key, sp>;

void attends(const tensor<float, batch, seq_here, d_k>& q, const tensor<float, batch, key_here, d_k>& k,
             const tensor<float, batch, key_here, d_v>& v, const ranks::mesh<tp>& of_heads,
             const ranks::mesh<sp, tp>& grid) {
#ifdef FIXED
  RESULT y = ring_attention<key_here>(scores<d_k>(q, k), v, grid);
#else
  RESULT y = ring_attention<key_here>(scores<d_k>(q, k), v, of_heads);
#endif
  (void)of_heads, (void)grid;
}

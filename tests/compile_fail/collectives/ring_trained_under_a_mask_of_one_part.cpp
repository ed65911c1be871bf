// MISTAKE: scores of whole queries are trained under a mask that holds elements for the keys of this rank.
// RULE: R21
// EXPECT: ERROR_R21_operation_has_no_gradient<.*ring_attention
// VARIANTS: unused
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>
#include <dimwise/ranks/ring_attention.hpp>

struct sp : mesh_axis<> {};
using key_here = shard<key, sp>;

void attends(const tensor<tracked<float>, batch, seq, d_k>& q, const tensor<tracked<float>, batch, key_here, d_k>& k,
             const tensor<float, batch, key_here, d_v>& v, const tensor<bool, batch, key_here>& shown,
             const ranks::mesh<sp>& grid) {
#ifdef FIXED
  RESULT y = ring_attention<key_here>(masked(scores<d_k>(q, k), causal<seq, key_here>{}), v, grid);
#else
  RESULT y = ring_attention<key_here>(masked(scores<d_k>(q, k), allow(shown)), v, grid);
#endif
  (void)shown;
}

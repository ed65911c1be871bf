// MISTAKE: the table of a relative bias is trained, and ring attention gives gradients of queries, keys and values.
// RULE: R21
// EXPECT: ERROR_R21_operation_has_no_gradient<.*ring_attention
// VARIANTS: unused
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>
#include <dimwise/ranks/ring_attention.hpp>

struct sp : mesh_axis<> {};
struct buckets : position_dim<9> {};
using seq_here = shard<seq, sp>;
using key_here = shard<key, sp>;

void attends(const tensor<tracked<float>, batch, seq_here, heads, d_k>& q,
             const tensor<tracked<float>, batch, key_here, heads, d_k>& k,
             const tensor<tracked<float>, batch, key_here, heads, d_v>& v,
             const tensor<tracked<float>, heads, buckets>& table, const ranks::mesh<sp>& grid) {
#ifdef FIXED
  const tensor constant = detached(table);
  RESULT y = ring_attention<key_here>(biased(scores<d_k>(q, k), relative_bias<seq_here, key_here, buckets>(constant)),
                                      v, grid);
#else
  RESULT y =
      ring_attention<key_here>(biased(scores<d_k>(q, k), relative_bias<seq_here, key_here, buckets>(table)), v, grid);
#endif
}

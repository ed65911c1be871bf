// SPDX-License-Identifier: BSL-1.0
// MISTAKE: the queries of every head meet the keys of every head: three heads become nine pairs.
// EXPECT: ERROR_R11_every_head_against_every_head
#include <dimwise/dimwise.hpp>

namespace notebook {
struct seq : dimwise::position_dim<6> {};
struct key : dimwise::prime<seq> {};
struct d_k : dimwise::feature_dim<24> {};
struct heads : dimwise::heads_dim<3> {};
struct key_heads : dimwise::prime<heads> {};
}  // namespace notebook
using namespace dimwise;
using namespace notebook;

int main() {
  tensor<float, heads, d_k> query;
#ifdef FIXED
  tensor<float, heads, key, d_k> keys;
#else
  tensor<float, key_heads, key, d_k> keys;
#endif
  tensor omega = scores<d_k>(query, keys);
}

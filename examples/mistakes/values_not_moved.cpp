// SPDX-License-Identifier: BSL-1.0
// MISTAKE: the keys were renamed, the values were not.
// EXPECT: ERROR_R3_values_are_at_other_positions_than_the_weights
#include <dimwise/dimwise.hpp>

namespace notebook {
struct seq : dimwise::position_dim<6> {};
struct key : dimwise::prime<seq> {};
struct d_model : dimwise::feature_dim<16> {};
struct d_k : dimwise::feature_dim<24> {};
struct d_v : dimwise::feature_dim<28> {};
struct heads : dimwise::heads_dim<3> {};
}  // namespace notebook
using namespace dimwise;
using namespace notebook;

int main() {
  tensor<float, seq, d_model> x;
  tensor<float, heads, d_k> query;
  tensor<float, heads, key, d_k> keys;
  tensor<float, heads, d_v, d_model> w_v;
  auto weights = softmax<key>(scores<d_k>(query, keys));
#ifdef FIXED
  auto values = rename<seq, key>(contract<d_model>(x, w_v));
#else
  auto values = contract<d_model>(x, w_v);
#endif
  tensor context = contract<key>(weights, values);
}

// SPDX-License-Identifier: BSL-1.0
// MISTAKE: softmax goes over the first axis, the heads, instead of the keys.
// EXPECT: ERROR_R13_softmax_takes_attendable_or_choice
#include <dimwise/dimwise.hpp>

namespace notebook {
struct seq : dimwise::position_dim<6> {};
struct key : dimwise::prime<seq> {};
struct d_k : dimwise::feature_dim<24> {};
struct heads : dimwise::heads_dim<3> {};
}  // namespace notebook
using namespace dimwise;
using namespace notebook;

int main() {
  tensor<float, heads, d_k> query;
  tensor<float, heads, key, d_k> keys;
#ifdef FIXED
  tensor weights = softmax<key>(scores<d_k>(query, keys));
#else
  tensor weights = softmax<heads>(scores<d_k>(query, keys));
#endif
}

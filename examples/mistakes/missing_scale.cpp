// SPDX-License-Identifier: BSL-1.0
// MISTAKE: the products of queries and keys go to softmax without 1/sqrt(d_k): large ones saturate it.
// EXPECT: ERROR_R6_raw_products_are_scaled_first
#include <dimwise/dimwise.hpp>

namespace lesson {
struct seq : dimwise::position_dim<> {};
struct key : dimwise::prime<seq> {};
struct d_k : dimwise::feature_dim<24> {};
}  // namespace lesson
using namespace dimwise;
using namespace lesson;

auto weights(const tensor<float, seq, d_k>& q, const tensor<float, key, d_k>& k) {
#ifdef FIXED
  auto s = scores<d_k>(q, k);
#else
  auto s = contract<d_k>(q, k);
#endif
  return softmax<key>(s);
}

// SPDX-License-Identifier: BSL-1.0
// MISTAKE: the mask comes after softmax: rows no longer sum to 1, and hidden keys have changed the visible weights.
// EXPECT: ERROR_R7_masking_comes_before_softmax
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
  return softmax<key>(masked(scores<d_k>(q, k), causal<seq, key>{}));
#else
  return masked(softmax<key>(scores<d_k>(q, k)), causal<seq, key>{});
#endif
}

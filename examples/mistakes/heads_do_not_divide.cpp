// SPDX-License-Identifier: BSL-1.0
// MISTAKE: 5 heads cannot share 512 features evenly.
// EXPECT: ERROR_R4_extent_does_not_divide
#include <dimwise/dimwise.hpp>

namespace lesson {
struct d_model : dimwise::feature_dim<512> {};
#ifdef FIXED
struct heads : dimwise::heads_dim<8> {};
#else
struct heads : dimwise::heads_dim<5> {};
#endif
struct d_k : dimwise::divided<d_model, heads> {};
}  // namespace lesson
using namespace dimwise;
using namespace lesson;

tensor<float, d_model, heads, d_k> w_q;

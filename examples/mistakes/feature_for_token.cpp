// SPDX-License-Identifier: BSL-1.0
// MISTAKE: axis 1 should index tokens; after a transpose it indexes features.
// EXPECT: ERROR_R1_contracted_dimension_is_not_in_both
#include <dimwise/dimwise.hpp>

namespace notebook {
struct seq : dimwise::position_dim<6> {};
struct d_model : dimwise::feature_dim<16> {};
struct d_k : dimwise::feature_dim<24> {};
struct heads : dimwise::heads_dim<3> {};
}  // namespace notebook
using namespace dimwise;
using namespace notebook;

int main() {
  tensor<float, seq, d_model> x;
  tensor<float, heads, d_k, d_model> w_q;
#ifdef FIXED
  auto second_word = at<seq>(x, 1);
#else
  auto second_word = at<d_model>(x, 1);
#endif
  tensor query = contract<d_model>(second_word, w_q);
}

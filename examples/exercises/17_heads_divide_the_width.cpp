// 17  Heads divide the width
//
// The heads share the features of the model: d_k is d_model divided by the number of heads. `divided` computes the
// extent at compile time and rejects a division with a remainder. The expected q has 3 heads.
//
// FAILS: ERROR_R4_extent_does_not_divide, line 15
#include "exercise.hpp"

using namespace dimwise;
using namespace course;

struct seq : position_dim<2> {};
struct d_model : feature_dim<6> {};
struct heads : heads_dim<4> {};
struct d_k : divided<d_model, heads> {};

int main() {
  const auto x = some<tensor<float, seq, d_model>>(1);
  const auto w_q = some<tensor<float, d_model, heads, d_k>>(2);
  tensor q = contract<d_model>(x, w_q);
  expect(extent_of<heads>(q) == 3 && extent_of<d_k>(q) == 2, "3 heads, 2 features each");
}

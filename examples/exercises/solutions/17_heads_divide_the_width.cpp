// 17  Heads divide the width: a solution
//
// HINT: 6 features divide into 3 heads, but not into 4.
#include "exercise.hpp"

using namespace dimwise;
using namespace course;

struct seq : position_dim<2> {};
struct d_model : feature_dim<6> {};
struct heads : heads_dim<3> {};
struct d_k : divided<d_model, heads> {};

int main() {
  const auto x = some<tensor<float, seq, d_model>>(1);
  const auto w_q = some<tensor<float, d_model, heads, d_k>>(2);
  tensor q = contract<d_model>(x, w_q);
  expect(extent_of<heads>(q) == 3 && extent_of<d_k>(q) == 2, "3 heads, 2 features each");
}

// 18  Split in the order of the weight: a solution
//
// HINT: Name the factors in the order of the weight: heads first.
#include "exercise.hpp"

using namespace dimwise;
using namespace course;

struct seq : position_dim<1> {};
struct d_model : feature_dim<1> {};
struct heads : heads_dim<2> {};
struct d_k : feature_dim<3> {};

int main() {
  tensor<float, seq, d_model> x({1});
  tensor<float, d_model, merged<heads, d_k>> w({1, 2, 3, 4, 5, 6});
  auto packed = contract<d_model>(x, w);
  tensor q = split<heads, d_k>(packed);
  tensor first = at<heads>(q, 0);
  expect(near(first, {1, 2, 3}), "the first head has the first three features");
}

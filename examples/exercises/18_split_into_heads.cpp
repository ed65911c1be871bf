// 18  Split in the order of the weight
//
// A weight for all heads has one merged dimension, `merged<heads, d_k>`, in which heads is the slowest. Splitting it in
// the other order is the classic `view` without `transpose`: it runs and mixes the heads. In dimwise the factors and
// their order are part of the type.
//
// FAILS: ERROR_R4_composite_has_other_factors_or_order, line 23
// FROM: split heads by view, no transpose
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
  tensor q = split<d_k, heads>(packed);
  tensor first = at<heads>(q, 0);
  expect(near(first, {1, 2, 3}), "the first head has the first three features");
}

// 05  The contracted dimension
//
// Scores compare each query with each key: the sum over the features d_k, which both have. In matrix notation this is Q
// times K transposed, and without the transpose the sum is over positions. In dimwise there is no transpose:
// `contract<D>` names the dimension to sum over, and both operands must have it.
//
// FAILS: ERROR_R1_contracted_dimension_is_not_in_both, line 21
// FROM: forgot K^T: contracts d_k with key positions
#include "exercise.hpp"

using namespace dimwise;
using namespace course;

struct seq : position_dim<3> {};
struct key : prime<seq> {};
struct d_k : feature_dim<3> {};

int main() {
  tensor<float, seq, d_k> q({1, 0, 0, 0, 1, 0, 0, 0, 1});
  tensor<float, key, d_k> k({1, 2, 3, 4, 5, 6, 7, 8, 9});
  tensor products = contract<key>(q, k);
  expect(near(products, {1, 4, 7, 2, 5, 8, 3, 6, 9}), "each query with each key");
}

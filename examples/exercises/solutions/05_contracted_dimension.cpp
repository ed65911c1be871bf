// 05  The contracted dimension: a solution
//
// HINT: Which dimension do q and k have in common?
#include "exercise.hpp"

using namespace dimwise;
using namespace course;

struct seq : position_dim<3> {};
struct key : prime<seq> {};
struct d_k : feature_dim<3> {};

int main() {
  tensor<float, seq, d_k> q({1, 0, 0, 0, 1, 0, 0, 0, 1});
  tensor<float, key, d_k> k({1, 2, 3, 4, 5, 6, 7, 8, 9});
  tensor products = contract<d_k>(q, k);
  expect(near(products, {1, 4, 7, 2, 5, 8, 3, 6, 9}), "each query with each key");
}

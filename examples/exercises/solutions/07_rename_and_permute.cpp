// 07  Rename and permute: a solution
//
// HINT: `permute<heads, seq, d_k>(q)` lists the dimensions in the new order; every dimension keeps its name.
#include "exercise.hpp"

using namespace dimwise;
using namespace course;

struct seq : position_dim<2> {};
struct heads : heads_dim<2> {};
struct d_k : feature_dim<2> {};

int main() {
  tensor<float, seq, heads, d_k> q({1, 2, 3, 4, 5, 6, 7, 8});
  tensor y = permute<heads, seq, d_k>(q);
  expect(near(y, {1, 2, 5, 6, 3, 4, 7, 8}), "heads first");
}

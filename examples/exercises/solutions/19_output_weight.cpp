// 19  The output weight: a solution
//
// HINT: Contract both dimensions: `contract<heads, d_v>(z, w_o)`.
#include "exercise.hpp"

using namespace dimwise;
using namespace course;

struct seq : position_dim<2> {};
struct d_model : feature_dim<4> {};
struct heads : heads_dim<2> {};
struct d_v : divided<d_model, heads> {};

int main() {
  tensor<float, seq, heads, d_v> z({1, 2, 3, 4, 5, 6, 7, 8});
  tensor<float, heads, d_v, d_model> w_o({0, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 0});
  tensor<float, seq, d_model> y = contract<heads, d_v>(z, w_o);
  expect(near(y, {4, 3, 2, 1, 8, 7, 6, 5}), "this output weight reverses the order");
}

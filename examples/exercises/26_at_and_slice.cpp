// 26  One row or a slice
//
// Position encodings are added position by position. `at<seq>(table, 0)` is the row of position 0 and would broadcast
// to all tokens. The mark `indexed<seq>` records that one element was taken, and does not meet a tensor that has seq.
// `slice` keeps the dimension.
//
// FAILS: ERROR_R18_single_element_meets_its_whole_dimension, line 20
// FROM: one position indexed instead of a slice
#include "exercise.hpp"

using namespace dimwise;
using namespace course;

struct seq : position_dim<> {};
struct d_model : feature_dim<2> {};

int main() {
  tensor<float, seq, d_model> x({1, 1, 1, 1}, seq{2});
  tensor<float, seq, d_model> table({0, 0, 5, 5, 9, 9}, seq{3});
  tensor y = x + at<seq>(table, 0);
  expect(near(y, {1, 1, 6, 6}), "each position has its own row");
}

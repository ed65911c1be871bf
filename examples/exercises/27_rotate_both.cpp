// 27  Queries and keys turn together
//
// Rotary positions turn the features of queries and keys by their place; the product then depends on the distance
// alone. If one side is not turned it depends on nothing sensible. The type remembers what was rotated.
//
// FAILS: ERROR_R9_only_one_operand_is_rotated, line 19
#include "exercise.hpp"

using namespace dimwise;
using namespace course;

struct seq : position_dim<> {};
struct key : prime<seq> {};
struct d_k : feature_dim<2> {};

int main() {
  tensor<float, seq, d_k> q({1, 0, 1, 0}, seq{2});
  tensor<float, key, d_k> k({1, 0, 1, 0}, key{2});
  tensor s = scores<d_k>(rotary<seq, d_k>(q), k);
  tensor first = at<seq>(s, 0);
  tensor second = at<seq>(s, 1);
  expect(near(first, {0.707107F, 0.382051F}) && near(second, {0.382051F, 0.707107F}), "the distance alone counts");
}

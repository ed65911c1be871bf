// 27  Rotary positions: a solution
//
// HINT: Rotate the keys as well: `rotary<key, d_k>(k)`.
#include "exercise.hpp"

using namespace dimwise;
using namespace course;

struct seq : position_dim<> {};
struct key : prime<seq> {};
struct d_k : feature_dim<2> {};

int main() {
  tensor<float, seq, d_k> q({1, 0, 1, 0}, seq{2});
  tensor<float, key, d_k> k({1, 0, 1, 0}, key{2});
  tensor s = scores<d_k>(rotary<seq, d_k>(q), rotary<key, d_k>(k));
  tensor first = at<seq>(s, 0);
  tensor second = at<seq>(s, 1);
  expect(near(first, {0.707107F, 0.382051F}) && near(second, {0.382051F, 0.707107F}),
         "the product depends on the distance only");
}

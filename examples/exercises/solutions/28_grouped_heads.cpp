// 28  Grouped heads repeat nothing: a solution
//
// HINT: The keys have the dimension kv_heads and two elements.
#include "exercise.hpp"

using namespace dimwise;
using namespace course;

struct seq : position_dim<1> {};
struct key : prime<seq> {};
struct kv_heads : heads_dim<2> {};
struct group : heads_dim<2> {};
struct heads : heads_dim<4> {};
struct d_k : feature_dim<1> {};

int main() {
  tensor<float, seq, kv_heads, group, d_k> q({1, 2, 3, 4});
  tensor<float, key, kv_heads, d_k> k({10, 20});
  tensor s = scores<d_k>(q, k);
  expect(near(s, {10, 20, 60, 80}), "two query heads per key head");
}

// 28  Grouped heads repeat nothing
//
// With grouped-query attention, several query heads share one key head: queries have kv_heads and group, keys have
// kv_heads only. Other libraries repeat the keys to the number of query heads, tiled or interleaved, and one of the two
// is wrong. Here nothing is repeated. Keys with another heads dimension would meet every query head.
//
// FAILS: ERROR_R11_every_head_against_every_head, line 24
// FROM: kv heads tiled instead of interleaved
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
  tensor<float, key, heads, d_k> k({10, 20, 10, 20});
  tensor s = scores<d_k>(q, k);
  expect(near(s, {10, 20, 60, 80}), "two query heads per key head");
}

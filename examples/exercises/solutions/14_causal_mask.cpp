// 14  The causal mask: a solution
//
// HINT: Name the queries first: `causal<seq, key>`.
#include "exercise.hpp"

using namespace dimwise;
using namespace course;

struct seq : position_dim<3> {};
struct key : prime<seq> {};
struct d_k : feature_dim<2> {};

int main() {
  tensor<float, seq, d_k> q;
  tensor<float, key, d_k> k;
  auto visible = masked(scores<d_k>(q, k), causal<seq, key>{});
  tensor weights = softmax<key>(visible);
  expect(near(at<seq>(weights, 0), {1, 0, 0}), "the first token sees no later one");
}

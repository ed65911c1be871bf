// 06  Queries and keys: a solution
//
// HINT: The keys are `rename<seq, key>(contract<d_model>(x, w_k))`.
#include "exercise.hpp"

using namespace dimwise;
using namespace course;

struct seq : position_dim<2> {};
struct key : prime<seq> {};
struct d_model : feature_dim<2> {};
struct d_k : feature_dim<2> {};

int main() {
  tensor<float, seq, d_model> x({1, 0, 0, 1});
  tensor<float, d_model, d_k> w_q({1, 2, 3, 4}), w_k({1, 0, 0, 1});
  auto q = contract<d_model>(x, w_q);
  auto k = rename<seq, key>(contract<d_model>(x, w_k));
  tensor s = unscaled(contract<d_k>(q, k));
  expect(near(s, {1, 2, 3, 4}), "two queries, two keys: four products");
  expect(near(at<seq>(s, 0), {1, 2}), "seq are the queries, key the keys");
}

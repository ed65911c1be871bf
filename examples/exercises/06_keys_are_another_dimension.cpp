// 06  Keys are another dimension
//
// Queries and keys come from the same sentence, but the table of scores has two sides: seq, who looks, and key, who is
// looked at. If both operands are called seq, the product pairs position 0 with 0, 1 with 1: the diagonal of the table.
// A library with names alone computes it without a word. `struct key : prime<seq>` is the other side; `rename<seq,
// key>` says which operand is meant.
//
// FAILS: ERROR_R2_shared_dimension_is_not_parallel, line 25
// FROM: named diagonal: q and k both carry the same Seq name
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
  auto k = contract<d_model>(x, w_k);
  tensor s = unscaled(contract<d_k>(q, k));
  expect(near(s, {1, 2, 3, 4}), "two queries, two keys: four numbers");
}

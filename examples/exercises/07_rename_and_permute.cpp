// 07  Rename and permute
//
// The expected tensor lists heads first: heads, seq, d_k. `rename` changes the name of a dimension, not its place, and
// converts between a dimension and its `prime` or `out` only. Positions cannot become heads. `permute` is a view with
// the same dimensions in another order; it names all of them, in the new order. The tensor that it initialises stores
// its elements in that order.
//
// FAILS: ERROR_R3_rename_goes_between_a_dimension_and_its_prime_or_out, line 21
// FROM: (B,S,H,D) passed to an API that wants (B,H,S,D)
#include "exercise.hpp"

using namespace dimwise;
using namespace course;

struct seq : position_dim<2> {};
struct heads : heads_dim<2> {};
struct d_k : feature_dim<2> {};

int main() {
  tensor<float, seq, heads, d_k> q({1, 2, 3, 4, 5, 6, 7, 8});
  tensor y = rename<seq, heads>(q);
  expect(near(y, {1, 2, 5, 6, 3, 4, 7, 8}), "heads first");
}

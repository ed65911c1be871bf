// 07  A new name moves nothing
//
// Some functions want heads before positions. With numbers people swap axes, or say that what was called positions is
// now called heads. `rename` goes between a dimension and its prime only, so it cannot do this. The order in memory is
// `permute`'s business, and means nothing else.
//
// FAILS: ERROR_R3_rename_goes_between_a_dimension_and_its_prime_or_out, line 20
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

// 25  Typed ids: a solution
//
// HINT: The tokens of the sentence are in `tokens`.
#include "exercise.hpp"

using namespace dimwise;
using namespace course;

struct seq : position_dim<2> {};
struct vocab : choice_dim<3> {};
struct segment : choice_dim<2> {};
struct d_model : feature_dim<2> {};

int main() {
  tensor<float, vocab, d_model> table({0, 0, 1, 1, 2, 2});
  tensor<id<vocab>, seq> tokens({id<vocab>(2), id<vocab>(1)});
  tensor<id<segment>, seq> segments({id<segment>(0), id<segment>(1)});
  tensor x = gather<vocab>(table, tokens);
  expect(near(x, {2, 2, 1, 1}), "the rows of the tokens");
  expect(segments.size() == 2, "segments index another table");
}

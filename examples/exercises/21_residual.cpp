// 21  The residual adds the input
//
// A residual connection adds the input of a layer to its output. A decoder has two candidates, its own state and the
// encoder's output. If both sentences have the same length, extents do not tell them apart. Names do: the positions
// differ.
//
// FAILS: ERROR_R8_neither_has_all_dimensions_of_the_other, line 23
// FROM: residual adds encoder output instead of decoder state
#include "exercise.hpp"

using namespace dimwise;
using namespace course;

struct target : position_dim<2> {};
struct source : position_dim<2> {};
struct d_model : feature_dim<2> {};

int main() {
  tensor<float, target, d_model> x({1, 2, 3, 4});
  tensor<float, source, d_model> memory({9, 9, 9, 9});
  tensor<float, target, source, normalised<source>> weights({1, 0, 0, 1});
  auto attended = contract<source>(weights, memory);
  tensor y = memory + attended;
  expect(near(y, {10, 11, 12, 13}), "the state plus the attended memory");
}

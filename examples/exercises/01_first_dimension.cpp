// 01  A dimension is a type
//
// A tensor of dimwise lists its dimensions by name. A dimension is a struct that says what kind it is: positions of a
// sequence (`position_dim`), features (`feature_dim`), heads (`heads_dim`), alternatives (`choice_dim`), examples side
// by side (`batch_dim`). The number is its extent. Here `step` shall be 4 positions.
//
// FAILS: ERROR_R1_tensor_names_dimensions, line 16
#include "exercise.hpp"

using namespace dimwise;
using namespace course;

struct step {};

int main() {
  tensor<float, step> x({1, 2, 3, 4});
  expect(near(sum<step>(x), {10}), "the sum over step is 10");
}

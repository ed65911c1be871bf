// 01  A dimension is a type
//
// A tensor lists its dimensions by name. A dimension is a struct derived from a kind: positions of a sequence
// (`position_dim`), features (`feature_dim`), heads (`heads_dim`), alternatives (`choice_dim`), batch (`batch_dim`).
// The template argument is its extent, `feature_dim<8>`; without one the extent is known at run time only. Make `step`
// a dimension of 4 positions. The fix that the error proposes leaves out the extent.
//
// FAILS: ERROR_R1_tensor_names_dimensions, line 18
#include "exercise.hpp"

using namespace dimwise;
using namespace course;

struct step {};

int main() {
  const std::vector<float> values{1, 2, 3, 4};
  tensor<float, step> x;
  x.assign(values);
  expect(std::is_base_of_v<position_dim<4>, step>, "step is a dimension of 4 positions");
  expect(near(sum<step>(x), {10}), "the sum over step is 10");
}

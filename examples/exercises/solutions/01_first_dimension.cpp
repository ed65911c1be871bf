// 01  A dimension is a type: a solution
//
// HINT: Derive `step` from `position_dim<4>`.
#include "exercise.hpp"

using namespace dimwise;
using namespace course;

struct step : position_dim<4> {};

int main() {
  const std::vector<float> values{1, 2, 3, 4};
  tensor<float, step> x;
  x.assign(values);
  expect(std::is_base_of_v<position_dim<4>, step>, "step is a dimension of 4 positions");
  expect(near(sum<step>(x), {10}), "the sum over step is 10");
}

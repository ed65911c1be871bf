// 37  A schedule has an end
//
// This program compiles, and throws when it runs. `warm_up_cosine` raises the rate to its peak in `.warm_up` steps and
// lowers it along half a cosine until `.steps`. Without the number of all steps the cosine has no end, and a rate that
// never falls would train on without a complaint. The library checks it at run time. This training has 20 steps.
//
// FAILS: when it runs, an exception of warm_up_cosine
#include "exercise.hpp"

using namespace dimwise;
using namespace course;

struct d_model : feature_dim<2> {};

int main() {
  tensor<float, d_model> w({1, 2});
  const auto loss = [](const auto& m) { return sum<d_model>(square(m)); };
  const warm_up_cosine rate{.peak = 0.1, .warm_up = 4};
  sgd optimiser(w, {.rate = rate});
  for (int n = 0; n < 20; ++n) { optimiser.step(w, gradient(w, loss)); }
  expect(rate(3) == 0.1, "the fourth step has the peak");
  expect(rate(12) > 0.04 && rate(12) < 0.06, "half of the peak in the middle between step 4 and step 20");
  expect(static_cast<float>(loss(w)) < 0.5F, "it learns");
}

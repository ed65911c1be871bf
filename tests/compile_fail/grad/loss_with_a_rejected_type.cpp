// MISTAKE: a loss captures a tensor whose type names a dimension twice; its gradient adds no second error.
// RULE: R17
// EXPECT: ERROR_R17_dimension_occurs_twice<.*seq
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

void train(const tensor<float, d_model>& w) {
#ifdef FIXED
  const tensor<float, batch, seq> scale;
#else
  const tensor<float, seq, seq> scale;
#endif
  [[maybe_unused]] const auto step =
      value_and_gradient(w, [&](const auto& m) { return mean<batch, seq, d_model>(x * m * scale); });
}

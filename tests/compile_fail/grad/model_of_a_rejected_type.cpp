// MISTAKE: the type of a model names a dimension twice; its gradient adds no second error.
// RULE: R17
// EXPECT: ERROR_R17_dimension_occurs_twice<.*d_model
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

#ifdef FIXED
extern const tensor<float, d_model, out<d_model>> square_weights;
#else
extern const tensor<float, d_model, d_model> square_weights;
#endif

void step() {
#ifdef FIXED
  const auto [loss, g] =
      value_and_gradient(square_weights, [](const auto& m) { return sum<d_model, out<d_model>>(m); });
  (void)loss;
#else
  const auto [loss, g] = value_and_gradient(square_weights, [](const auto& m) { return sum<d_model>(m); });
  (void)loss;
#endif
}

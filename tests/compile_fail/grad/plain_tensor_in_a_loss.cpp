// MISTAKE: a step of the loss is stored as plain numbers: what comes before it would get no gradient.
// RULE: R21
// LINES(gcc): 12
// LINES(clang): 19
// EXPECT: ERROR_R21_declared_type_drops_the_gradient<.*assign.*float.*tracked<float>.*operand_shape<.*seq.*d_model
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

void train(const tensor<float, d_model, out<d_model>>& w) {
  [[maybe_unused]] const auto step = value_and_gradient(w, [](const auto& m) {
#ifdef FIXED
    tensor y = contract<d_model>(x, m);
#else
    tensor<float, batch, seq, d_model> y = contract<d_model>(x, m);
#endif
    return mean<batch, seq, d_model>(square(y));
  });
}

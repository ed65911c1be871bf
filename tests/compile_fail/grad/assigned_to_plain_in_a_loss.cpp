// MISTAKE: a step of the loss is assigned to plain numbers: what comes before it would get no gradient.
// RULE: R21
// LINES(gcc): 12
// LINES(clang): 22
// EXPECT: ERROR_R21_declared_type_drops_the_gradient<.*assign.*float.*tracked<float>
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

void train(const tensor<float, d_model, vocab>& w) {
  accumulated total(w);
  total.add([](const auto& m) {
#ifdef FIXED
    tensor y = contract<d_model>(x, m);
#else
    tensor<float, batch, seq, vocab> y;
    y = contract<d_model>(x, m);
#endif
    return cross_entropy<vocab>(y, tokens);
  });
}

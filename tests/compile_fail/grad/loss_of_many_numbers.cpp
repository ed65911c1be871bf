// MISTAKE: the squared errors were not averaged: the loss is a number for each element.
// RULE: R21
// EXPECT: ERROR_R21_loss_is_one_number<.*batch.*seq
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

void train(const tensor<float, d_model, out<d_model>>& w, const tensor<float, batch, seq, d_model>& wanted) {
#ifdef FIXED
  const auto loss = [&](const auto& m) { return mean<batch, seq, d_model>(square(contract<d_model>(x, m) - wanted)); };
#else
  const auto loss = [&](const auto& m) { return mean<d_model>(square(contract<d_model>(x, m) - wanted)); };
#endif
  [[maybe_unused]] const auto g = gradient(w, loss);
}

// MISTAKE: the loss was differentiated by the words, ids of a vocabulary, in place of the table of their vectors.
// RULE: R21
// EXPECT: ERROR_R21_model_has_no_parameters<.*id<demo::vocab>
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

void train(const tensor<float, vocab, d_model>& table, const tensor<id<vocab>, batch, seq>& words) {
#ifdef FIXED
  const auto loss = [&](const auto& m) { return mean<batch, seq, d_model>(square(gather<vocab>(m, words))); };
  [[maybe_unused]] const auto g = gradient(table, loss);
#else
  const auto loss = [&](const auto& m) { return mean<batch, seq, d_model>(square(gather<vocab>(table, m))); };
  [[maybe_unused]] const auto g = gradient(words, loss);
#endif
}

// MISTAKE: the gradient of W_q was taken for that of W_v: a gradient has the type of what it belongs to.
// RULE: R8
// EXPECT: ERROR_R8_neither_has_all_dimensions_of_the_other<.*d_v.*d_k
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

void train() {
  const auto loss = [&](const auto& m) { return mean<batch, seq, heads, d_k>(square(contract<d_model>(x, m))); };
  const auto g = gradient(w_q, loss);
#ifdef FIXED
  RESULT updated = w_q - 0.1F * g;
#else
  RESULT updated = w_v - 0.1F * g;
#endif
}

// MISTAKE: a step of the loss was stored as plain numbers: what comes before it would get no gradient.
// RULE: R21
// EXPECT: ERROR_R21_declared_type_drops_the_gradient<.*assign.*float.*tracked<float>
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

void step(const tensor<dimwise::tracked<float>, d_model, out<d_model>>& m) {
#ifdef FIXED
  const tensor y = contract<d_model>(x, m);
#else
  const tensor<float, batch, seq, d_model> y = contract<d_model>(x, m);
#endif
  (void)y;
}

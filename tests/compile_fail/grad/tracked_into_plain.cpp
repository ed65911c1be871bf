// MISTAKE: a step of the loss was stored as plain numbers: what comes before it would get no gradient.
// RULE: R13
// EXPECT: ERROR_R13_elements_do_not_fit_the_declared_type<.*assign.*float.*tracked<float>
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

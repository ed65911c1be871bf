// MISTAKE: a step of a loss was stored as a number: what comes before it would get no gradient.
// RULE: R21
// EXPECT: ERROR_R21_declared_type_drops_the_gradient<.*assign.*float.*tracked<float>
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

void step(const tensor<dimwise::tracked<float>, d_model, out<d_model>>& m) {
#ifdef FIXED
  const auto norm = sum<d_model, out<d_model>>(square(m));
#else
  const float norm = sum<d_model, out<d_model>>(square(m));
#endif
  (void)norm;
}

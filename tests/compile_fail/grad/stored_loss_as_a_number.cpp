// MISTAKE: a stored step of a loss is read as a double.
// RULE: R21
// EXPECT: ERROR_R21_declared_type_drops_the_gradient<.*assign.*double.*tracked<float>
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

void step(const tensor<dimwise::tracked<float>>& norm) {
#ifdef FIXED
  const double shown = norm.value();
#else
  const double shown = norm;
#endif
  (void)shown;
}

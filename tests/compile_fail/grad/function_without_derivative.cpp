// MISTAKE: a user's function is mapped over tracked elements without its derivative.
// RULE: R21
// EXPECT: ERROR_R21_operation_has_no_gradient<.*map.*d_model
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

struct cubed {
  float operator()(float v) const { return v * v * v; }
#ifdef FIXED
  float derivative(float v) const { return 3 * v * v; }
#endif
};

void step(const tensor<dimwise::tracked<float>, d_model>& m) { RESULT y = map(cubed(), m); }

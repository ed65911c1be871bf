// MISTAKE: a function of two arguments says one derivative, and not by which argument it is.
// RULE: R21
// EXPECT: ERROR_R21_operation_has_no_gradient<.*map.*d_model
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

#include <cstddef>

struct weighed_square {
  float operator()(float a, float b) const { return a * a * b; }
#ifdef FIXED
  template <std::size_t I>
  float derivative(float a, float b) const {
    return I == 0 ? 2 * a * b : a * a;
  }
#else
  float derivative(float a, float b) const { return 2 * a * b; }
#endif
};

void step(const tensor<dimwise::tracked<float>, d_model>& m, const tensor<float, d_model>& n) {
  RESULT y = map(weighed_square(), m, n);
}

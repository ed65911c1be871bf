// MISTAKE: an expression of double becomes an expr of float.
// RULE: R13
// EXPECT: ERROR_R13_elements_do_not_fit_the_declared_type<.*declared<float>.*computed<double>
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

extern tensor<double, batch, seq, d_model> precise;

void layer() {
#ifdef FIXED
  [[maybe_unused]] expr<double, shape<batch, seq, d_model>> e = precise + x;
#else
  [[maybe_unused]] expr<float, shape<batch, seq, d_model>> e = precise + x;
#endif
}

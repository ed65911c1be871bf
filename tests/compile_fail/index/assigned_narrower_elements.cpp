// MISTAKE: a position of floats is written with doubles.
// RULE: R13
// EXPECT: ERROR_R13_elements_do_not_fit_the_declared_type<.*declared<float>.*computed<double>
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer(tensor<float, batch, seq, d_model>& all, tensor<double, batch, seq, d_model>& precise,
           const tensor<double, batch, d_model>& one) {
#ifdef FIXED
  (void)all;
  assign_at<seq>(precise, 0, one);
#else
  (void)precise;
  assign_at<seq>(all, 0, one);
#endif
}

// MISTAKE: a tensor of double is assigned to one of float.
// RULE: R13
// EXPECT: ERROR_R13_elements_do_not_fit_the_declared_type<.*float.*double
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  extern tensor<float, seq> wide;
  extern tensor<double, seq> y;
  y = wide;
#else
  extern tensor<double, seq> wide;
  extern tensor<float, seq> y;
  y = wide;
#endif
}

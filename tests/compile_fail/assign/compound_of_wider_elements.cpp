// MISTAKE: double is added in place to float.
// RULE: R13
// EXPECT: ERROR_R13_elements_do_not_fit_the_declared_type<.*float.*double
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  extern tensor<float, d_model> row;
  x += row;
#else
  extern tensor<double, d_model> wide;
  x += wide;
#endif
}

// MISTAKE: a tensor of double becomes one of float.
// RULE: R13
// EXPECT: ERROR_R13_elements_do_not_fit_the_declared_type<.*float.*double
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  extern tensor<double, seq> wide;
  tensor<float, seq> y = map([](double v) { return static_cast<float>(v); }, wide);
#else
  extern tensor<double, seq> wide;
  tensor<float, seq> y = wide;
#endif
}

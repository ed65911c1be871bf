// MISTAKE: windows over a static extent keep its name.
// RULE: R18
// EXPECT: ERROR_R18_slice_of_a_static_extent_names_its_result<.*unroll.*steps
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct steps : position_dim<8> {};
struct kernel : position_dim<3> {};
struct fitting : position_dim<6> {};

void layer(const tensor<float, batch, steps, d_model>& t) {
#ifdef FIXED
  RESULT r = unroll<steps, kernel, fitting>(t);
#else
  RESULT r = unroll<steps, kernel>(t);
#endif
}

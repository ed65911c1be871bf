// MISTAKE: windows slide over features.
// RULE: R13
// EXPECT: ERROR_R13_needs_ordered_positions<.*unroll.*d_model
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct kernel : position_dim<3> {};
struct few : feature_dim<22> {};
struct steps : position_dim<> {};

void layer(const tensor<float, steps, d_model>& t) {
#ifdef FIXED
  RESULT r = unroll<steps, kernel>(t);
#else
  RESULT r = unroll<d_model, kernel, few>(x);
#endif
}

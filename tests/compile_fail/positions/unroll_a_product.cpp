// MISTAKE: windows over the positions of an image that were merged into one dimension.
// RULE: R13
// EXPECT: ERROR_R13_needs_ordered_positions<.*unroll.*merged<.*row.*column
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct row : position_dim<> {};
struct column : position_dim<> {};
struct taps : position_dim<3> {};
struct windows : position_dim<> {};

void layer(const tensor<float, merged<row, column>, d_model>& patches) {
#ifdef FIXED
  RESULT r = unroll<column, taps, windows>(split<row, column>(patches));
#else
  RESULT r = unroll<merged<row, column>, taps, windows>(patches);
#endif
}

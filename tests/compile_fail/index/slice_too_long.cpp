// MISTAKE: a slice is longer than its dimension.
// RULE: R18
// EXPECT: ERROR_R18_slice_is_longer_than_its_dimension<.*slice.*width, .*extent<64.*rot, .*extent<65
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct width : feature_dim<64> {};
struct rot : feature_dim<65> {};
struct fits : feature_dim<16> {};

void layer(const tensor<float, seq, width>& t) {
#ifdef FIXED
  RESULT r = slice<width, fits>(t, 0);
#else
  RESULT r = slice<width, rot>(t, 0);
#endif
}

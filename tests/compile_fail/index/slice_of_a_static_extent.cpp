// MISTAKE: some elements of a dimension of a static extent keep its name.
// RULE: R18
// EXPECT: ERROR_R18_slice_of_a_static_extent_names_its_result<.*slice.*width, .*extent<64
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct width : feature_dim<64> {};
struct rot : feature_dim<16> {};

void layer(const tensor<float, seq, width>& t) {
#ifdef FIXED
  RESULT r = slice<width, rot>(t, 0);
#else
  RESULT r = slice<width>(t, 0, 16);
#endif
}

// MISTAKE: a view with two strides for one dimension.
// RULE: R15
// EXPECT: ERROR_R15_view_is_made_from_a_pointer_or_span_and_extents<.*row
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct row : position_dim<> {};
struct column : feature_dim<> {};

void layer() {
#ifdef FIXED
  extern float* p;
  tensor_view<float, row> y(p, strides{3}, row{3});
#else
  extern float* p;
  tensor_view<float, row> y(p, strides{3, 1}, row{3});
#endif
}

// MISTAKE: a view that writes, over memory that is constant.
// RULE: R15
// EXPECT: ERROR_R15_view_is_made_from_a_pointer_or_span_and_extents<.*row
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct row : position_dim<> {};
struct column : feature_dim<> {};

void layer() {
#ifdef FIXED
  extern const float* p;
  tensor_view<const float, row> y(p, row{3});
#else
  extern const float* p;
  tensor_view<float, row> y(p, row{3});
#endif
}

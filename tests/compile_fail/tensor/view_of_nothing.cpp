// MISTAKE: a view of nothing.
// RULE: R15
// EXPECT: ERROR_R15_view_is_made_from_a_pointer_or_span_and_extents<.*row
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct row : position_dim<> {};
struct column : feature_dim<> {};

void layer() {
#ifdef FIXED
  extern float* p;
  tensor_view<float, row> y(p, row{3});
#else
  tensor_view<float, row> y;
#endif
}

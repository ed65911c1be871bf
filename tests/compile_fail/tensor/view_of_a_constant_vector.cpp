// MISTAKE: a view that writes, over a constant vector.
// RULE: R15
// EXPECT: ERROR_R15_view_is_made_from_a_pointer_or_span_and_extents<.*row
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

#include <vector>

struct row : position_dim<> {};
struct column : feature_dim<> {};

void layer() {
#ifdef FIXED
  const std::vector<float> v(3);
  tensor_view<const float, row> y(v, row{3});
#else
  const std::vector<float> v(3);
  tensor_view<float, row> y(v, row{3});
#endif
}

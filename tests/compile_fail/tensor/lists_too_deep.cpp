// MISTAKE: lists of two levels for one dimension.
// RULE: R15
// EXPECT: ERROR_R15_tensor_is_made_from_elements_and_extents<.*row
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct row : position_dim<> {};
struct column : feature_dim<> {};

void layer() {
#ifdef FIXED
  tensor<float, row, column> y{{1, 2}, {3, 4}};
#else
  tensor<float, row> y{{1, 2}, {3, 4}};
#endif
}

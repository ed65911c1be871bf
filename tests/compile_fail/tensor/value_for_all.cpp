// MISTAKE: a number that should be every element.
// RULE: R15
// EXPECT: ERROR_R15_tensor_is_made_from_elements_and_extents<.*row
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct row : position_dim<> {};
struct column : feature_dim<> {};

void layer() {
#ifdef FIXED
  tensor<float, row> y(row{3});
  y.fill(1.5F);
#else
  tensor<float, row> y(row{3}, 1.5F);
#endif
}

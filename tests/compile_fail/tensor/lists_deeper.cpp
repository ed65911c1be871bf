// MISTAKE: lists of three levels for two dimensions.
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
  tensor<float, row, column> y{{{1, 2}, {3, 4}}};
#endif
}

// MISTAKE: elements of two run-time dimensions without their extents.
// RULE: R15
// EXPECT: ERROR_R15_tensor_is_made_from_elements_and_extents<.*row
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

#include <vector>

struct row : position_dim<> {};
struct column : feature_dim<> {};

void layer() {
#ifdef FIXED
  std::vector<float> v;
  tensor<float, row, column> y(v, row{2}, column{3});
#else
  std::vector<float> v;
  tensor<float, row, column> y(v);
#endif
}

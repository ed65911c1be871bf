// MISTAKE: elements with the extent of another dimension.
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
  tensor<float, row> y(v, row{2});
#else
  std::vector<float> v;
  tensor<float, row> y(v, column{2});
#endif
}

// MISTAKE: real numbers become whole elements.
// RULE: R15
// EXPECT: ERROR_R15_tensor_is_made_from_elements_and_extents<.*row
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

#include <vector>

struct row : position_dim<> {};
struct column : feature_dim<> {};

void layer() {
#ifdef FIXED
  std::vector<int> v;
  tensor<float, row> y(v, row{2});
#else
  std::vector<float> v;
  tensor<int, row> y(v, row{2});
#endif
}

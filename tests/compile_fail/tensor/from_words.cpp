// MISTAKE: elements are made of strings.
// RULE: R15
// EXPECT: ERROR_R15_tensor_is_made_from_elements_and_extents<.*row
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

#include <string>
#include <vector>

struct row : position_dim<> {};
struct column : feature_dim<> {};

void layer() {
#ifdef FIXED
  std::vector<double> v;
  tensor<float, row> y(v, row{2});
#else
  std::vector<std::string> v;
  tensor<float, row> y(v, row{2});
#endif
}

// MISTAKE: a pointer without the number of its elements.
// RULE: R15
// EXPECT: ERROR_R15_tensor_is_made_from_elements_and_extents<.*row
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

#include <span>

struct row : position_dim<> {};
struct column : feature_dim<> {};

void layer() {
#ifdef FIXED
  float v[2] = {};
  float* p = v;
  tensor<float, row> y(std::span(p, 2), row{2});
#else
  float v[2] = {};
  float* p = v;
  tensor<float, row> y(p, row{2});
#endif
}

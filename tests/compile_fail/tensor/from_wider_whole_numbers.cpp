// MISTAKE: whole numbers of 64 bits become elements of 32.
// RULE: R15
// EXPECT: ERROR_R15_tensor_is_made_from_elements_and_extents<.*row
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

#include <cstdint>
#include <vector>

struct row : position_dim<> {};
struct column : feature_dim<> {};

void layer() {
#ifdef FIXED
  std::vector<std::int64_t> v;
  tensor<std::int64_t, row> y(v, row{2});
#else
  std::vector<std::int64_t> v;
  tensor<int, row> y(v, row{2});
#endif
}

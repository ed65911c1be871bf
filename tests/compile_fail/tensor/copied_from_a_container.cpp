// MISTAKE: a container is taken for a tensor.
// RULE: R15
// EXPECT: ERROR_R15_tensor_is_made_from_elements_and_extents<.*row.*d_k
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

#include <vector>

struct row : position_dim<> {};
extern std::vector<float> values;

void layer() {
#ifdef FIXED
  tensor<float, row, d_k> y(values, row{3});
#else
  tensor<float, row, d_k> y = values;
#endif
}

// MISTAKE: a container is assigned, without extents.
// RULE: R15
// EXPECT: ERROR_R15_tensor_is_made_from_elements_and_extents<
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

#include <vector>

void layer() {
#ifdef FIXED
  std::vector<float> v;
  extern tensor<float, seq> y;
  y.assign(v);
#else
  std::vector<float> v;
  extern tensor<float, seq> y;
  y = v;
#endif
}

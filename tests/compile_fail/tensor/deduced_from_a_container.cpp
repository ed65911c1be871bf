// MISTAKE: a tensor without dimensions in its type is made from a container.
// RULE: R1
// EXPECT: ERROR_R1_element_type_comes_first<.*vector<float
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

#include <vector>

struct row : position_dim<> {};
extern std::vector<float> values;

void layer() {
#ifdef FIXED
  tensor<float, row> y(values);
#else
  tensor y = values;
#endif
}

// MISTAKE: the type of the elements is left out.
// RULE: R1
// EXPECT: ERROR_R1_element_type_comes_first<.*row
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

#include <vector>

struct row : position_dim<> {};
extern std::vector<float> values;

void layer() {
#ifdef FIXED
  tensor<float, row> y(row{3});
#else
  tensor y(row{3});
#endif
}

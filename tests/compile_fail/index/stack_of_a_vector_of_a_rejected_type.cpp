// MISTAKE: a vector of tensors whose type names a dimension twice is stacked; `stack` adds no second error.
// RULE: R17
// EXPECT: ERROR_R17_dimension_occurs_twice<.*seq
// VARIANTS: unused
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

#include <vector>

#ifdef FIXED
extern const std::vector<tensor<float, seq, d_k>> rows;
#else
extern const std::vector<tensor<float, seq, seq>> repeated;
#endif

void layer() {
#ifdef FIXED
  RESULT y = stack<heads>(rows);
#else
  RESULT y = stack<heads>(repeated);
#endif
}

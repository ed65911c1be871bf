// MISTAKE: the states of a vector are stacked along a dimension that they have.
// RULE: R17
// EXPECT: ERROR_R17_dimension_occurs_twice<.*stack.*seq
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

#include <vector>

struct step : position_dim<> {};

void layer(const std::vector<tensor<float, batch, seq>>& states) {
#ifdef FIXED
  RESULT r = stack<step>(states);
#else
  RESULT r = stack<seq>(states);
#endif
}

// MISTAKE: the parts of a vector are put one after the other along a dimension of a static extent.
// RULE: R10
// EXPECT: ERROR_R10_concat_of_a_static_extent_names_its_result<.*concat.*fixed
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

#include <vector>

struct step : position_dim<> {};
struct fixed : feature_dim<3> {};

void layer(const std::vector<tensor<float, step, fixed>>& parts) {
#ifdef FIXED
  RESULT r = concat<step>(parts);
#else
  RESULT r = concat<fixed>(parts);
#endif
}

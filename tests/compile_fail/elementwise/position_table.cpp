// MISTAKE: a table of learned positions is added under its own name, as if its rows were examples or positions.
// RULE: R8
// EXPECT: ERROR_R8_neither_has_all_dimensions_of_the_other<.*seq.*place
// FROM: positional encoding added along batch
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct place : choice_dim<EXTENT(17)> {};

void layer(const tensor<float, place, d_model>& table, const tensor<id<place>, seq>& positions) {
#ifdef FIXED
  RESULT r = x + gather<place>(table, positions);
#else
  RESULT r = x + table;
#endif
}

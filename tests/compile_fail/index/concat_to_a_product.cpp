// MISTAKE: patches are appended to a product of rows and columns: the result is not such a product.
// RULE: R4
// EXPECT: ERROR_R4_composite_has_other_factors_or_order<.*concat.*merged<.*row.*column
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct row : position_dim<> {};
struct column : position_dim<> {};

void layer(const tensor<float, merged<row, column>, d_model>& patches) {
#ifdef FIXED
  RESULT r = concat<row>(split<row, column>(patches), split<row, column>(patches));
#else
  RESULT r = concat<merged<row, column>>(patches, patches);
#endif
}

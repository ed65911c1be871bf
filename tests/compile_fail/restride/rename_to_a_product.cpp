// MISTAKE: one run-time extent is taken for a product, whose factors it does not say.
// RULE: R4
// EXPECT: ERROR_R4_composite_has_other_factors_or_order<.*rename.*merged<.*row.*column
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct row : position_dim<> {};
struct column : position_dim<> {};
using patches = merged<row, column>;

void layer(const tensor<float, patches, d_model>& image) {
#ifdef FIXED
  RESULT r = rename<patches, prime<patches>>(image);
#else
  RESULT r = rename<prime<patches>, patches>(rename<patches, prime<patches>>(image));
#endif
}

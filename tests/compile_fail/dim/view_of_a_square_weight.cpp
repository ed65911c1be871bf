// MISTAKE: a view whose two dimensions are one.
// RULE: R17
// EXPECT: ERROR_R17_dimension_occurs_twice<.*d_k
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer(const float* memory_of_w) {
#ifdef FIXED
  tensor_view<const float, d_k, out<d_k>> w(memory_of_w, d_k{}, out<d_k>{});
#else
  tensor_view<const float, d_k, d_k> w(memory_of_w, d_k{});
#endif
}

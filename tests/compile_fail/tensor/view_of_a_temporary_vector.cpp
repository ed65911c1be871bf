// MISTAKE: a view of a container that is gone at the end of the line.
// RULE: R15
// EXPECT: ERROR_R15_view_is_made_from_a_pointer_or_span_and_extents<.*seq
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

#include <vector>

std::vector<float> read_values();

void layer() {
#ifdef FIXED
  const std::vector<float> values = read_values();
  tensor_view<const float, seq> y(values, seq{5});
#else
  tensor_view<const float, seq> y(read_values(), seq{5});
#endif
}

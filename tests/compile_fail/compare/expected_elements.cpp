// MISTAKE: a tensor is compared with the elements of a container.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*compare.*seq.*container_of<float>
// VARIANTS: dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

#include <vector>

void step(const std::vector<float>& expected) {
#ifdef FIXED
  RESULT y = x == tensor<float, batch, seq, d_model>(expected, batch{2}, seq{5}, d_model{24});
#else
  RESULT y = x == expected;
#endif
}

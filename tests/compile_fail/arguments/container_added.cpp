// MISTAKE: a container added to a tensor.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*elementwise
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

#include <vector>

void layer() {
#ifdef FIXED
  const std::vector<float> v(24);
  RESULT y = x + tensor<float, d_model>(v, d_model{24});
#else
  const std::vector<float> v(24);
  RESULT y = x + v;
#endif
}

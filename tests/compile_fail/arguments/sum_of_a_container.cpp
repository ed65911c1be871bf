// MISTAKE: a sum of a container.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*sum.*seq
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

#include <vector>

void layer() {
#ifdef FIXED
  const std::vector<float> v(5);
  RESULT y = sum<seq>(tensor<float, seq>(v, seq{5}));
#else
  const std::vector<float> v(5);
  RESULT y = sum<seq>(v);
#endif
}

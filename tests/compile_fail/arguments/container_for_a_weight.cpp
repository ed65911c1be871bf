// MISTAKE: a container where a tensor belongs.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*contract.*d_model
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

#include <vector>

void layer() {
#ifdef FIXED
  const std::vector<float> v(24);
  RESULT y = contract<d_model>(x, tensor<float, d_model>(v, d_model{24}));
#else
  const std::vector<float> v(24);
  RESULT y = contract<d_model>(x, v);
#endif
}

// MISTAKE: a tensor names a type that is not a dimension.
// RULE: R1
// EXPECT: ERROR_R1_tensor_names_dimensions<.*over<.*step
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct step {
  int size;
};

void layer() {
#ifdef FIXED
  extern tensor<float, seq> t;
  RESULT y = t + 1;
#else
  extern tensor<float, seq, step> t;
  RESULT y = t + 1;
#endif
}

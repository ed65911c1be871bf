// MISTAKE: a tensor without the type of its elements.
// RULE: R1
// EXPECT: ERROR_R1_element_type_comes_first<.*over<.*seq
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  tensor<float, seq, d_model> t;
  (void)t.size();
#else
  tensor<seq, d_model> t;
  (void)t.size();
#endif
}

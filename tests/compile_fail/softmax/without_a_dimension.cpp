// MISTAKE: softmax is called without the dimension that it goes over.
// RULE: R1
// EXPECT: ERROR_R1_operation_names_its_dimension<.*softmax.*heads.*seq.*key
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = softmax<key>(s);
#else
  RESULT r = softmax(s);
#endif
}

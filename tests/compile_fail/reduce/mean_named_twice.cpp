// MISTAKE: generic code names a dimension that its caller gave, too.
// RULE: R17
// EXPECT: ERROR_R17_dimension_occurs_twice<.*mean.*seq.*seq
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

template <class D, class X>
auto mean_over_all(const X& t) {
  return mean<D, seq>(t);
}

void layer() {
#ifdef FIXED
  RESULT r = mean_over_all<batch>(x);
#else
  RESULT r = mean_over_all<seq>(x);
#endif
}

// MISTAKE: a mask is printed.
// RULE: R7
// EXPECT: ERROR_R7_mask_has_no_elements_to_print<.*seq.*key
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

#include <iostream>

void layer() {
#ifdef FIXED
  std::cout << indicator(window<seq, key>{1, 0}, seq{5}, key{5});
#else
  std::cout << window<seq, key>{1, 0};
#endif
}

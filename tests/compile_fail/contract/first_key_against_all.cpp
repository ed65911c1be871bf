// MISTAKE: one key, taken out by its index, meets all keys.
// RULE: R18
// EXPECT: ERROR_R18_single_element_meets_its_whole_dimension<.*indexed<.*key
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = contract<d_k>(at<key>(k, 0), rename<key, seq>(k));
#else
  RESULT r = contract<d_k>(at<key>(k, 0), k);
#endif
}

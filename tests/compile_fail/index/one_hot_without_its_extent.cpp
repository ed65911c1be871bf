// MISTAKE: ids are indicated in a dimension whose extent is unknown.
// RULE: R15
// EXPECT: ERROR_R15_run_time_extents_are_given_once<.*lexicon
// VARIANTS: unused
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct lexicon : choice_dim<> {};

void layer(const tensor<id<lexicon>, seq>& t) {
#ifdef FIXED
  RESULT r = one_hot<lexicon>(t, lexicon{7});
#else
  RESULT r = one_hot<lexicon>(t);
#endif
}

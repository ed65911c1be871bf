// MISTAKE: all ids of a dimension whose extent is unknown.
// RULE: R15
// EXPECT: ERROR_R15_run_time_extents_are_given_once<.*lexicon
// VARIANTS: unused
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct lexicon : choice_dim<> {};

void layer() {
#ifdef FIXED
  RESULT r = ids_of<lexicon>(lexicon{7});
#else
  RESULT r = ids_of<lexicon>();
#endif
}

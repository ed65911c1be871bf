// MISTAKE: the positions and the features are exchanged in the type of the learned positions.
// RULE: R13
// EXPECT: ERROR_R13_module_takes_arguments_of_other_kinds<.*learned_positions.*over<.*d_model.*seq.*declared<.*positions.*features
// VARIANTS: equal unused dynamic
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  const nn::learned_positions<seq, d_model> places_of_words;
#else
  const nn::learned_positions<d_model, seq> places_of_words;
#endif
  RESULT y = places_of_words(x);
}

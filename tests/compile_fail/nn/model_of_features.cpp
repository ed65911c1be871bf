// MISTAKE: a language model is given features instead of words.
// RULE: R1
// EXPECT: ERROR_R1_contracted_dimension_is_not_in_both<.*vocab
// VARIANTS: equal unused dynamic
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = language_model(sentence);
#else
  RESULT y = language_model(memory);
#endif
}

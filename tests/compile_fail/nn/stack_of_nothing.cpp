// MISTAKE: a stack does not name its layer.
// RULE: R13
// EXPECT: ERROR_R13_module_takes_arguments_of_other_kinds<.*stack.*over<.*argument::nothing.*declared<.*argument::layer
// VARIANTS: unused
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  const nn::stack<encoder_block> layer;
#else
  const nn::stack<> layer;
#endif
  RESULT y = layer(memory);
}

// MISTAKE: an embedding takes its element type itself, not in `elements<…>`.
// RULE: R13
// EXPECT: ERROR_R13_module_takes_arguments_of_other_kinds<.*embedding.*over<.*elements<double>.*declared<.*argument::element
// VARIANTS: unused
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  const nn::embedding<vocab, d_model, double> layer;
#else
  const nn::embedding<vocab, d_model, nn::elements<double>> layer;
#endif
  RESULT y = layer(tokens);
}

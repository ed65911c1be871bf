// MISTAKE: no argument of a linear layer has the kind of its place.
// RULE: R13
// EXPECT: ERROR_R13_module_takes_arguments_of_other_kinds<.*op::linear.*declared<.*argument::dimensions\b.*argument::dimensions\b.*argument::bias\b.*argument::element\b
#include "nn_prelude.hpp"

#ifdef FIXED
using module = nn::linear<nn::from<d_model>, nn::to<d_ff>, nn::no_bias, float>;
#else
using module = nn::linear<nn::from<float>, nn::to<double>, d_k, nn::no_bias>;
#endif
static_assert(sizeof(module) > 0);

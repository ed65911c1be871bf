// MISTAKE: an RMS norm is given an element type without `elements`.
// RULE: R13
// EXPECT: ERROR_R13_module_takes_arguments_of_other_kinds<.*op::rms_norm.*declared<.*argument::features_or_elements\b
#include "nn_prelude.hpp"

#ifdef FIXED
using module = nn::rms_norm<d_model, nn::elements<float>>;
#else
using module = nn::rms_norm<d_model, float>;
#endif
static_assert(sizeof(module) > 0);

// MISTAKE: no argument of a decoder layer has the kind of its place.
// RULE: R13
// EXPECT: ERROR_R13_module_takes_arguments_of_other_kinds<.*op::decoder_layer.*declared<.*argument::layer\b.*argument::layer\b.*argument::layer\b.*argument::norm\b.*argument::order\b
#include "nn_prelude.hpp"

#ifdef FIXED
using module = nn::decoder_layer<own_attention, memory_attention, two_layers, feature_norm, nn::pre_norm>;
#else
using module = nn::decoder_layer<d_k, d_v, d_ff, d_model, heads>;
#endif
static_assert(sizeof(module) > 0);

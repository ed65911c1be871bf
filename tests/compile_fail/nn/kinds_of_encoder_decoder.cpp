// MISTAKE: no argument of an encoder-decoder has the kind of its place.
// RULE: R13
// EXPECT: ERROR_R13_module_takes_arguments_of_other_kinds<.*op::encoder_decoder.*declared<.*argument::layer\b.*argument::layer\b
#include "nn_prelude.hpp"

#ifdef FIXED
using module = nn::encoder_decoder<nn::stack<encoder_block>, nn::stack<decoder_block>>;
#else
using module = nn::encoder_decoder<d_k, d_v>;
#endif
static_assert(sizeof(module) > 0);

// MISTAKE: no argument of a feed-forward layer has the kind of its place.
// RULE: R13
// EXPECT: ERROR_R13_module_takes_arguments_of_other_kinds<.*op::feed_forward.*declared<.*argument::dimensions\b.*argument::dimensions\b.*argument::activation\b.*argument::bias\b.*argument::element\b
#include "nn_prelude.hpp"

#ifdef FIXED
using module = nn::feed_forward<d_model, d_ff, nn::activation::gelu, nn::no_bias, float>;
#else
using module = nn::feed_forward<float, double, d_k, d_v, nn::no_bias>;
#endif
static_assert(sizeof(module) > 0);

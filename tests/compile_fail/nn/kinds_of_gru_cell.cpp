// MISTAKE: no argument of a GRU cell has the kind of its place.
// RULE: R13
// EXPECT: ERROR_R13_module_takes_arguments_of_other_kinds<.*op::gru_cell.*declared<.*argument::dimensions\b.*argument::dimensions\b.*argument::element\b
#include "nn_prelude.hpp"

#ifdef FIXED
using module = nn::gru_cell<d_v, d_ff, float>;
#else
using module = nn::gru_cell<float, double, nn::no_bias>;
#endif
static_assert(sizeof(module) > 0);

// MISTAKE: a linear layer gives a dimension twice.
// RULE: R17
// EXPECT: ERROR_R17_dimension_occurs_twice<.*op::linear.*d_ff
#include "nn_prelude.hpp"

#ifdef FIXED
using module = nn::linear<nn::from<d_model>, nn::to<d_ff, heads>>;
#else
using module = nn::linear<nn::from<d_model>, nn::to<d_ff, d_ff>>;
#endif
static_assert(sizeof(module) > 0);

// MISTAKE: the trained sinks are of double, and the scores of float.
// RULE: R13
// EXPECT: ERROR_R13_elements_do_not_fit_the_declared_type<.*attention_with_sinks.*float.*double.*operand_shape<.*heads
// VARIANTS: equal unused dynamic
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

#ifdef FIXED
extern tensor<tracked<float>, heads> sinks_of_heads;
#else
extern tensor<tracked<double>, heads> sinks_of_heads;
#endif

void layer() { RESULT y = nn::attention_with_sinks<d_k, src>(q, k_src, v_src, sinks_of_heads); }

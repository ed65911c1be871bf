// MISTAKE: the trained sinks are of float, and the constant queries, keys and values of double.
// RULE: R13
// EXPECT: ERROR_R13_elements_do_not_fit_the_declared_type<.*attention_with_sinks.*tracked<float>.*double
// VARIANTS: equal unused dynamic
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

#ifdef FIXED
extern tensor<tracked<double>, heads> sinks_of_heads;
#else
extern tensor<tracked<float>, heads> sinks_of_heads;
#endif
extern tensor<double, batch, seq, heads, d_k> q_exact;
extern tensor<double, batch, src, heads, d_k> k_exact;
extern tensor<double, batch, src, heads, d_v> v_exact;

void layer() { RESULT y = nn::attention_with_sinks<d_k, src>(q_exact, k_exact, v_exact, sinks_of_heads); }

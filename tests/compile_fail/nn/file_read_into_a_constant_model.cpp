// MISTAKE: a file is read into a model that is constant.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*load.*const .*feed_forward
// VARIANTS: equal dynamic
#include "nn_prelude.hpp"
#include <dimwise/io/checkpoint.hpp>

#ifdef FIXED
extern nn::feed_forward<d_model, d_ff> model;
#else
extern const nn::feed_forward<d_model, d_ff> model;
#endif

void read() { io::load(model, io::read_safetensors("model.safetensors")); }

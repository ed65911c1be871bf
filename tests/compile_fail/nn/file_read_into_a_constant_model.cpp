// MISTAKE: a file is read into a model that is constant.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*load.*const .*layer_norm
// VARIANTS: equal dynamic
#include "nn_prelude.hpp"
#include <dimwise/io/checkpoint.hpp>

#ifdef FIXED
extern nn::layer_norm<d_model> model;
#else
extern const nn::layer_norm<d_model> model;
#endif

void read() { io::load(model, io::read_safetensors("model.safetensors")); }

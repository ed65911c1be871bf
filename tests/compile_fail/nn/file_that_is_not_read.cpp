// MISTAKE: a model is loaded from the path of a file, which `read_safetensors` did not read.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*load
// VARIANTS: equal dynamic
#include "nn_prelude.hpp"
#include <dimwise/io/checkpoint.hpp>

extern nn::feed_forward<d_model, d_ff> model;

void read() {
#ifdef FIXED
  io::load(model, io::read_safetensors("model.safetensors"));
#else
  io::load(model, "model.safetensors");
#endif
}

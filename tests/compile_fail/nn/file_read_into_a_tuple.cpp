// MISTAKE: a file is read into a tuple of layers, whose parameters have no names.
// RULE: R21
// EXPECT: ERROR_R21_model_is_a_module_with_named_members<.*load.*tuple
// VARIANTS: equal dynamic
#include "nn_prelude.hpp"
#include <dimwise/io/checkpoint.hpp>

#include <tuple>

#ifdef FIXED
extern nn::layer_norm<d_model> model;
#else
extern std::tuple<nn::layer_norm<d_model>> model;
#endif

void read() { io::load(model, io::read_safetensors("model.safetensors")); }

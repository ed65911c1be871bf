// MISTAKE: an attention names two changes of queries and keys, of which the second would have no effect.
// RULE: R13
// EXPECT: ERROR_R13_module_takes_arguments_of_other_kinds<.*multi_head_attention.*over<.*rotated_heads.*normalised_heads.*declared<.*one_preparation
// VARIANTS: unused
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
  using normalised = nn::normalised_heads<nn::rms_norm<d_k>>;
#ifdef FIXED
  using both = nn::prepared_by<normalised, nn::as_projected>;
  const nn::multi_head_attention<d_model, heads, d_k, d_v, both> layer;
#else
  const nn::multi_head_attention<d_model, heads, d_k, d_v, nn::rotated_heads, normalised> layer;
#endif
  RESULT y = layer(x, memory, memory);
}

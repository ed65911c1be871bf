// MISTAKE: a scale for each feature of the values, which the scores lack.
// RULE: R8
// EXPECT: ERROR_R8_neither_has_all_dimensions_of_the_other<.*scaled.*d_v
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention(const tensor<float, seq, d_k>& of_all, const tensor<float, key, d_k>& keys,
               const tensor<float, batch>& temperature, const tensor<float, batch, d_v>& of_values) {
#ifdef FIXED
  RESULT r = scaled(contract<d_k>(of_all, keys), temperature);
#else
  RESULT r = scaled(contract<d_k>(of_all, keys), of_values);
#endif
}

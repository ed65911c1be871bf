// MISTAKE: a layer adds the batch of the memory, which the next layer's input has no place for.
// RULE: R3
// EXPECT: ERROR_R3_assigned_dimensions_differ<.*batch
// VARIANTS: equal unused dynamic
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

extern const nn::stack<decoder_block> decoder;

void layer() {
#ifdef FIXED
  RESULT y = decoder(x, memory);
#else
  RESULT y = decoder(mean<batch>(x), memory);
#endif
}

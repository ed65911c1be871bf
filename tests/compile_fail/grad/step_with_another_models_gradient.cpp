// MISTAKE: the encoder takes a step by the gradient of the decoder, which has other parameters of the same number.
// RULE: R22
// EXPECT: ERROR_R22_gradient_belongs_to_another_model<
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

extern tensor<float, d_model, d_ff> encoder, encoder_gradient;
extern tensor<float, d_ff, d_model> decoder_gradient;

void train() {
  adamw optimiser(encoder, {.rate = 1e-3});
#ifdef FIXED
  optimiser.step(encoder, encoder_gradient);
#else
  optimiser.step(encoder, decoder_gradient);
#endif
}

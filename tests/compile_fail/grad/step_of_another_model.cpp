// MISTAKE: the optimiser of the encoder is given the decoder and its gradient.
// RULE: R22
// EXPECT: ERROR_R22_optimiser_steps_the_model_that_it_was_made_for<.*d_model.*d_ff.*d_ff.*d_model
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

extern tensor<float, d_model, d_ff> encoder, encoder_gradient;
extern tensor<float, d_ff, d_model> decoder, decoder_gradient;

void train() {
  adamw optimiser(encoder, {.rate = 1e-3});
#ifdef FIXED
  optimiser.step(encoder, encoder_gradient);
#else
  optimiser.step(decoder, decoder_gradient);
#endif
}

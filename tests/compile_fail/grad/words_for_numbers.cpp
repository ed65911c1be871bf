// MISTAKE: ids of words are given to a loss of numbers.
// RULE: R18
// EXPECT: ERROR_R18_ids_index_their_own_dimension_only<.*mean_squared_error
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

extern tensor<float, batch, seq> guessed, wanted;

void train() {
#ifdef FIXED
  [[maybe_unused]] const auto loss = mean_squared_error(guessed, wanted);
#else
  [[maybe_unused]] const auto loss = mean_squared_error(guessed, tokens);
#endif
}

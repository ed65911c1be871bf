// MISTAKE: the logits are normalised over the positions, as in a tensor viewed in the wrong order.
// RULE: R18
// EXPECT: ERROR_R18_ids_index_their_own_dimension_only<.*cross_entropy.*seq.*vocab
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

void train() {
#ifdef FIXED
  [[maybe_unused]] const auto loss = cross_entropy<vocab>(logits, tokens);
#else
  [[maybe_unused]] const auto loss = cross_entropy<seq>(logits, tokens);
#endif
}

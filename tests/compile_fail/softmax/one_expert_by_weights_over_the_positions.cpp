// MISTAKE: the router's stored weights sum to one over the positions, and the best expert is chosen by them.
// RULE: R5
// EXPECT: ERROR_R5_alternatives_are_chosen_by_weights_over_positions<.*argmax.*expert.*seq
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct expert : choice_dim<EXTENT(8)> {};
extern tensor<float, batch, seq, expert> routes;

void layer() {
#ifdef FIXED
  const tensor weights = softmax<expert>(routes);
#else
  const tensor weights = log_softmax<seq>(routes);
#endif
  RESULT best = argmax<expert>(weights);
}

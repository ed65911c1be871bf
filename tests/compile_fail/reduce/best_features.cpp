// MISTAKE: the best of features, which are not alternatives.
// RULE: R13
// EXPECT: ERROR_R13_softmax_takes_attendable_or_choice<.*top_k.*d_model
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct best : choice_dim<2> {};

void layer() {
#ifdef FIXED
  [[maybe_unused]] auto r = top_k<vocab, best>(logits);
#else
  [[maybe_unused]] auto r = top_k<d_model, best>(x);
#endif
}

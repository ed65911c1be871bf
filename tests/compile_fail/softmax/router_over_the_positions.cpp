// MISTAKE: the router's softmax goes over the positions, and the best experts are chosen by it.
// RULE: R5
// EXPECT: ERROR_R5_alternatives_are_chosen_by_weights_over_positions<.*top_k.*expert.*seq
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct expert : choice_dim<EXTENT(8)> {};
#ifdef EQUAL
struct chosen : choice_dim<4> {};
struct taken : position_dim<4> {};
#else
struct chosen : choice_dim<2> {};
struct taken : position_dim<3> {};
#endif
extern tensor<float, batch, seq, expert> routes;

void layer() {
#ifdef FIXED
  [[maybe_unused]] const auto best = top_k<expert, chosen>(softmax<expert>(routes));
  [[maybe_unused]] const auto by_experts = top_k<seq, taken>(softmax<expert>(routes));  // experts choose tokens
#else
  [[maybe_unused]] const auto best = top_k<expert, chosen>(softmax<seq>(routes));
#endif
}

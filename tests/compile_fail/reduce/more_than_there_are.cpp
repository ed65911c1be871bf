// MISTAKE: twelve candidates are asked of a vocabulary of eleven.
// RULE: R18
// EXPECT: ERROR_R18_more_elements_than_the_dimension_has<.*top_k.*words, .*extent<11.*best, .*extent<12
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct words : choice_dim<11> {};
struct best : choice_dim<12> {};
struct fewer : choice_dim<5> {};

void layer(const tensor<float, batch, words>& t) {
#ifdef FIXED
  [[maybe_unused]] auto r = top_k<words, fewer>(t);
#else
  [[maybe_unused]] auto r = top_k<words, best>(t);
#endif
}

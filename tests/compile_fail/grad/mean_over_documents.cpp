// MISTAKE: a mean over packed positions goes over several documents without a word that this is meant.
// RULE: R19
// EXPECT: ERROR_R19_mean_over_all_documents_says_so<.*cross_entropy.*packed
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

struct packed : packed_dim<> {};
extern tensor<float, packed, vocab> scores_of_words;
extern tensor<id<vocab>, packed> words;

void train() {
#ifdef FIXED
  [[maybe_unused]] const auto loss = cross_entropy<vocab>(scores_of_words, words, all_documents{});
#else
  [[maybe_unused]] const auto loss = cross_entropy<vocab>(scores_of_words, words);
#endif
}

// MISTAKE: the order of the positions is taken for that of the vocabulary.
// RULE: R18
// EXPECT: ERROR_R18_ids_index_their_own_dimension_only<.*gather.*vocab
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  [[maybe_unused]] auto r = gather<seq>(x, argsort<seq>(x));
#else
  [[maybe_unused]] auto r = gather<vocab>(logits, argsort<seq>(x));
#endif
}

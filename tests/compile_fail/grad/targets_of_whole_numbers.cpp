// MISTAKE: the targets are whole numbers, which do not say what they are numbers of.
// RULE: R18
// EXPECT: ERROR_R18_ids_index_their_own_dimension_only<.*cross_entropy.*vocab.*(int|over<int>)
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

#ifdef FIXED
using target = id<vocab>;
#else
using target = int;
#endif

void loss(const tensor<float, batch, seq, vocab>& logits, const tensor<target, batch, seq>& next) {
  [[maybe_unused]] const auto value = cross_entropy<vocab>(logits, next);
}

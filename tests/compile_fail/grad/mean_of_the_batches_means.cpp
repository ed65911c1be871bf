// MISTAKE: the mean of each part of a batch is added, so that short parts weigh as much as long ones.
// RULE: R22
// EXPECT: ERROR_R22_batches_are_added_as_averages<
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

void train() {
  accumulated total(embedding);
#ifdef FIXED
  const auto loss = [](const auto& m) { return cross_entropy<vocab>(contract<d_model>(x, m), tokens); };
#else
  const auto loss = [](const auto& m) { return cross_entropy<vocab>(contract<d_model>(x, m), tokens).mean(); };
#endif
  total.add(loss);
}

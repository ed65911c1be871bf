// MISTAKE: similarities of queries and keys without their scale as logits.
// RULE: R6
// EXPECT: ERROR_R6_raw_products_are_scaled_first<.*binary_cross_entropy
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

void train(const tensor<float, batch, heads, seq, key>& matches) {
#ifdef FIXED
  [[maybe_unused]] const auto loss = binary_cross_entropy(scaled(products, 0.1F), matches);
#else
  [[maybe_unused]] const auto loss = binary_cross_entropy(products, matches);
#endif
}

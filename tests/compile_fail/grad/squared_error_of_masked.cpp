// MISTAKE: the squared error of what is hidden, which is infinite.
// RULE: R7
// EXPECT: ERROR_R7_masked_values_go_to_softmax_or_a_reduction<.*mean_squared_error
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

void train() {
#ifdef FIXED
  [[maybe_unused]] const auto loss = mean_squared_error(s, s, causal<seq, key>{});
#else
  [[maybe_unused]] const auto loss = mean_squared_error(masked(s, causal<seq, key>{}), s);
#endif
}

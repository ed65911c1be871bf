// MISTAKE: rotated queries compared with queries that are not.
// RULE: R9
// EXPECT: ERROR_R9_only_one_operand_is_rotated<.*mean_squared_error
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

void train() {
#ifdef FIXED
  [[maybe_unused]] const auto loss = mean_squared_error(rotary<seq, d_k>(q), rotary<seq, d_k>(q));
#else
  [[maybe_unused]] const auto loss = mean_squared_error(rotary<seq, d_k>(q), q);
#endif
}

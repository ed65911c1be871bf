// MISTAKE: positions are told to start at a number, without their dimension.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*starting_at, ?int
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct now : position_dim<> {};

void layer() {
#ifdef FIXED
  [[maybe_unused]] const auto step = starting_at(now{1}, 41);
#else
  [[maybe_unused]] const auto step = starting_at(1, 41);
#endif
}

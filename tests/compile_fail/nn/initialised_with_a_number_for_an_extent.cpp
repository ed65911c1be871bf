// MISTAKE: a run-time extent is given as a number, without its dimension.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*initialise.*expansion.*int>
// VARIANTS: equal
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

struct inner : feature_dim<> {};
struct expansion {
  nn::linear<nn::from<d_model>, nn::to<inner>> up;
  using members = nn::member_list<&expansion::up>;
};

void begin() {
#ifdef FIXED
  [[maybe_unused]] const auto model = nn::initialised<expansion>(nn::xavier_uniform(42), inner{13});
#else
  [[maybe_unused]] const auto model = nn::initialised<expansion>(nn::xavier_uniform(42), 13);
#endif
}

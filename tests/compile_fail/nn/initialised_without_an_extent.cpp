// MISTAKE: a module is initialised without its run-time extent: its weight would have no elements.
// RULE: R15
// EXPECT: ERROR_R15_run_time_extents_are_given_once<.*initialise.*inner
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
  [[maybe_unused]] const auto model = nn::initialised<expansion>(nn::xavier_uniform(42));
#endif
}

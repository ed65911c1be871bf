// MISTAKE: one of two run-time extents is left out.
// RULE: R15
// EXPECT: ERROR_R15_run_time_extents_are_given_once<.*over<[^<>]*examples, [^<>]*steps>.*over<[^<>]*steps>
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct steps : position_dim<> {};
struct examples : batch_dim<> {};

void layer() {
#ifdef FIXED
  tensor<float, examples, steps> t(examples{2}, steps{3});
#else
  tensor<float, examples, steps> t(steps{3});
#endif
}

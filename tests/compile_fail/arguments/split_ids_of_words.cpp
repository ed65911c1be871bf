// MISTAKE: ids of one dimension taken apart as those of a product.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*split_ids
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct beam : choice_dim<3> {};
extern tensor<float, seq, beam, vocab> scored;

void layer() {
#ifdef FIXED
  auto r = split_ids(argmax<beam, vocab>(scored), beam{}, vocab{});
#else
  auto r = split_ids(argmax<vocab>(scored), beam{}, vocab{});
#endif
}

// MISTAKE: the features are divided along the axis of the stages, which have layers and no parts of features.
// RULE: R24
// EXPECT: ERROR_R24_operation_goes_over_a_shard<.*micro_batches.*pp
#include "stages_prelude.hpp"

#ifdef FIXED
using features = passed;
#else
using features = tensor<float, batch, seq, shard<d_model, pp>>;
#endif

void train(const one_stage<float>& m, const ranks::mesh<pp>& grid) {
  [[maybe_unused]] const auto g = value_and_gradient(m, micro_batches<features>(4, first, layers, loss), grid);
}

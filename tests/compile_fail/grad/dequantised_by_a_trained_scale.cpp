// MISTAKE: the scale of quantized weights is part of the model; `dequantised` has no gradient.
// RULE: R21
// EXPECT: ERROR_R21_operation_has_no_gradient<.*dequantised
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

#include <cstdint>

extern tensor<std::int8_t, batch, d_model> stored;
extern tensor<tracked<float>, batch> scale_of_rows;

void train() {
#ifdef FIXED
  [[maybe_unused]] const auto weights = dequantised(stored, detached(scale_of_rows));
#else
  [[maybe_unused]] const auto weights = dequantised(stored, scale_of_rows);
#endif
}

// tests/conformance/onnx/rows.cpp -- softmax over an axis, norms from an axis on: the axes before and behind are one
// dimension each.
// SPDX-License-Identifier: BSL-1.0
#include "conformance/case.hpp"

namespace conformance {
namespace {

using namespace dimwise;

struct before : batch_dim<> {};
struct along : choice_dim<> {};
struct behind : batch_dim<> {};
struct features : feature_dim<> {};

std::size_t axis_of(const run& r, const char* key, std::ptrdiff_t otherwise) {
  const std::ptrdiff_t axis = r.integer(key, otherwise);
  return static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::ptrdiff_t>(r.rank(0)) : axis);
}

template <class F>
void over_axis(run& r, F f) {
  const std::size_t axis = axis_of(r, "axis", -1);
  const before b{r.extents(0, 0, axis)};
  const along a{r.extent(0, axis)};
  const behind e{r.extents(0, axis + 1, r.rank(0))};
  if (r.dtype(0) == "float64") {
    r.expect(0, f(r.grouped<double>(0, b, a, e)));
  } else {
    r.expect(0, f(r.grouped<float>(0, b, a, e)));
  }
}
const family softmax_cases{"Softmax", [](run& r) { over_axis(r, [](const auto& x) { return softmax<along>(x); }); }};
const family log_softmax_cases{"LogSoftmax",
                               [](run& r) { over_axis(r, [](const auto& x) { return log_softmax<along>(x); }); }};

// The normed axes are one dimension of features; weights have all of them.
struct normed {
  tensor<float, before, features> x;
  explicit normed(run& r) {
    const std::size_t axis = axis_of(r, "axis", -1);
    x = r.grouped<float>(0, before{r.extents(0, 0, axis)}, features{r.extents(0, axis, r.rank(0))});
  }
  [[nodiscard]] tensor<float, features> weight(const run& r, int slot) const {
    return r.grouped<float>(slot, features{x.extents().extent<features>()});
  }
};

void layer_normalization(run& r) {
  const normed in(r);
  const double epsilon = r.number("epsilon", 1e-5);
  const auto gamma = in.weight(r, 1);
  if (r.has(2)) {
    r.expect(0, layer_norm<features>(in.x, gamma, in.weight(r, 2), epsilon));
  } else {
    r.expect(0, layer_norm<features>(in.x, epsilon) * gamma);
  }
  if (r.wants(1)) { r.expect(1, mean<features>(in.x)); }
  if (r.wants(2)) {
    const auto variance = mean<features>(square(in.x - mean<features>(in.x)));
    r.expect(2, 1 / sqrt(variance + epsilon));
  }
}
const family layer_norm_cases{"LayerNormalization", layer_normalization};

void rms_normalization(run& r) {
  const normed in(r);
  r.expect(0, rms_norm<features>(in.x, in.weight(r, 1), r.number("epsilon", 1e-5)));
}
const family rms_norm_cases{"RMSNormalization", rms_normalization};

}  // namespace
}  // namespace conformance

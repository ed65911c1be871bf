// tests/conformance/onnx/linear_attention.cpp -- ai.onnx LinearAttention: attention through a state of fixed extent.
//
// Slots: 0 query, 1 key, 2 value, 3 past_state, 4 decay, 5 beta -> 0 output, 1 present_state. "chunk_size" says how an
// implementation may cut its work; the result is the same.
// SPDX-License-Identifier: BSL-1.0
#include "conformance/attention/attention.hpp"
#include <dimwise/nn/linear_attention.hpp>

#include <stdexcept>

namespace conformance {
namespace {

using namespace dimwise;

struct linear_operands {
  run& r;
  batch sequences{r.extent(0, 0)};
  seq positions{r.extent(0, 1)};
  kv_heads heads{r.integer("kv_num_heads")};
  shared_by group{static_cast<std::size_t>(r.integer("q_num_heads")) / heads.extent()};
  d_k features{r.extent(1, 2) / heads.extent()};
  d_v channels{r.extent(2, 2) / heads.extent()};

  template <class Update>
  void report(const Update& update) const {
    const auto q = r.grouped<float>(0, sequences, positions, heads, group, features);
    const auto k = r.grouped<float>(1, sequences, positions, heads, features);
    const auto v = r.grouped<float>(2, sequences, positions, heads, channels);
    nn::linear_state<float, batch, kv_heads, d_k, d_v> state(sequences, heads, features, channels);
    if (r.has(3)) { state = r.get<float, batch, kv_heads, d_k, d_v>(3); }
    const double scale = r.number("scale", 0.0);
    const auto y =
        nn::linear_attention<seq, d_k>(q, k, v, state, update, scale == 0 ? std::nullopt : std::optional(scale));
    r.expect(0, permute<batch, seq, kv_heads, shared_by, d_v>(y));
    if (r.wants(1)) { r.expect(1, state); }
  }
  // g, for each head or for each feature of its keys.
  template <class Next>
  void with_decay(Next next) const {
    if (r.extent(4, 2) == heads.extent()) {
      next(r.get<float, batch, seq, kv_heads>(4));
    } else {
      next(r.grouped<float>(4, sequences, positions, heads, features));
    }
  }
  // β, for each head or for all.
  [[nodiscard]] tensor<float, batch, seq, kv_heads> beta() const {
    return r.stretched<float>(5, sequences, positions, heads);
  }
};

void linear_attention(run& r) {
  const linear_operands in{r};
  const std::string rule = r.text("update_rule", "gated_delta");
  if (rule == "linear") {
    in.report(nn::linear_update{});
  } else if (rule == "delta") {
    in.report(nn::delta_update{in.beta()});
  } else if (rule == "gated") {
    in.with_decay([&](const auto& decay) { in.report(nn::gated_update{decay}); });
  } else if (rule == "gated_delta") {
    in.with_decay([&](const auto& decay) { in.report(nn::gated_delta_update{decay, in.beta()}); });
  } else {
    throw std::runtime_error("no update rule " + rule);
  }
}
const family linear_attention_cases{"LinearAttention", linear_attention};

}  // namespace
}  // namespace conformance

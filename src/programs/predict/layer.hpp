// src/programs/predict/layer.hpp -- the time of one layer on a rank, and the bytes that it saves for the backward pass.
// Tests: tests/programs/predict.test.cpp
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "inputs.hpp"

#include <algorithm>

namespace prediction {

/// The computing of a layer on a rank, forward, in seconds and operations.
struct layer_seconds {
  double products = 0;
  double attention = 0;
  double pointwise = 0;
  double operations = 0;
  [[nodiscard]] double total() const { return products + attention + pointwise; }
};

/// A product whose weight is read once.
inline double product_seconds(const machine& on, const task& t, double rows, double k, double n, double weights) {
  return roofline_seconds(product_operations(rows, k, n), on.product_rate,
                          weights * t.weight_bytes + rows * (k + n) * t.activation_bytes, on.stream_bandwidth);
}

/// A feed-forward layer of `rows` tokens, a part of 1 / tp.
inline layer_seconds feed_forward_seconds(const model& m, const machine& on, const task& t, double rows, double tp) {
  layer_seconds s;
  const double maps = m.gated ? 2 : 1;
  const double hidden = m.hidden / tp;
  const double read = std::min(stored_hidden(m), rows * m.hidden) / tp;  // features of the experts that are chosen
  s.products = maps * product_seconds(on, t, rows, m.d_model, hidden, m.d_model * read) +
               product_seconds(on, t, rows, hidden, m.d_model, m.d_model * read);
  s.operations = product_operations(rows, feed_matrices(m, hidden), 1);
  s.pointwise = rows * (maps + 1) * hidden * t.activation_bytes / on.pointwise_bandwidth + (maps + 2) * on.call;
  return s;
}

/// Attention of `sequences` times `queries` over `keys` positions, with its four maps, a part of 1 / tp.
inline layer_seconds attention_seconds(const model& m, const machine& on, const task& t, double sequences,
                                       double queries, double keys, double tp) {
  layer_seconds s;
  const double rows = sequences * queries;
  const double width = m.heads * m.d_k / tp;
  const double kv_width = m.kv_heads * m.d_k / tp;
  s.products = product_seconds(on, t, rows, m.d_model, width + 2 * kv_width, m.d_model * (width + 2 * kv_width)) +
               product_seconds(on, t, rows, width, m.d_model, m.d_model * width);
  const bool halves = t.causal && t.kind != task_kind::decode && !on.counts_masked;
  const double operations = sequences * attention_operations(queries, keys, width) * (halves ? 0.5 : 1);
  s.attention = roofline_seconds(operations, on.attention_rate, sequences * 2 * keys * kv_width * t.activation_bytes,
                                 on.stream_bandwidth);
  s.operations = product_operations(rows, attention_matrices(m) / tp, 1) + operations;
  s.pointwise = 5 * on.call;
  if (on.stores_scores) {  // the product writes them, softmax and dropout read and write, the product reads
    s.pointwise += 6 * rows * keys * m.heads / tp * t.activation_bytes / on.pointwise_bandwidth;
  }
  return s;
}

/// Norms and residuals of a layer, the same on all ranks of tp: two norms read and write, two sums read twice and
/// write.
inline double norm_seconds(const model& m, const machine& on, const task& t, double rows) {
  return 10 * rows * m.d_model * t.activation_bytes / on.pointwise_bandwidth + 4 * on.call;
}

/// A layer on a rank, forward.
inline layer_seconds whole_layer_seconds(const model& m, const machine& on, const task& t, double sequences,
                                         double queries, double keys, double tp) {
  layer_seconds s = attention_seconds(m, on, t, sequences, queries, keys, tp);
  const layer_seconds feed = feed_forward_seconds(m, on, t, sequences * queries, tp);
  s.products += feed.products;
  s.pointwise += feed.pointwise + norm_seconds(m, on, t, sequences * queries);
  s.operations += feed.operations;
  return s;
}

/// The seconds that the blocks of a ring leave exposed, and those that computing hides (Liu et al. 2023): P − 1
/// messages, each while a P-th of the attention is computed.
struct ring_seconds {
  double exposed = 0;
  double hidden = 0;
};
inline ring_seconds ring_attention_seconds(const connection& l, double ranks, double block_bytes, double attention) {
  if (ranks <= 1) { return {}; }
  const double message = message_seconds(l, block_bytes);
  const double exposed = exposed_seconds(message, attention / ranks);
  return {(ranks - 1) * exposed, (ranks - 1) * (message - exposed)};
}

/// What a layer saves for the backward pass on a rank: for stored scores the bytes of Korthikanti et al. 2022, whose
/// elements have 16 bits; otherwise the inputs of norms and maps, queries, keys, values, the attention's result, and
/// the hidden features before the activation, as dimwise saves them.
inline double saved_bytes(const model& m, const machine& on, const task& t, double sequences, double positions,
                          double tp, recomputation again) {
  if (on.stores_scores) {
    const double scale = t.activation_bytes / 2;
    return scale * (again == recomputation::none ? gpt_saved_bytes(positions, sequences, m.d_model, m.heads, tp)
                                                 : gpt_saved_bytes_without_scores(positions, sequences, m.d_model, tp));
  }
  const double divided = 2 * m.d_k * (m.heads + m.kv_heads) + (m.gated ? 2 : 1) * m.hidden;
  return sequences * positions * (4 * m.d_model + divided / tp) * t.activation_bytes;
}

}  // namespace prediction

// src/programs/predict/formulas.hpp -- the formulas of dimwise-predict: messages, arithmetic and memory of a
// transformer on several ranks, each with its source.
//
// Seconds, bytes, floating-point operations, all as double. No templates, no state, the standard library only.
// Tests: tests/programs/predict.test.cpp
//
// Sources
//   Hockney 1994: a message of n bytes takes latency + n / bandwidth.
//   Thakur, Rabenseifner, Gropp 2005: Optimization of collective communication operations in MPICH.
//   Patarasuk, Yuan 2009: Bandwidth optimal all-reduce algorithms.
//   Rajbhandari et al. 2020: ZeRO, arXiv 1910.02054.
//   Narayanan et al. 2021: Efficient large-scale language model training on GPU clusters, arXiv 2104.04473.
//   Korthikanti et al. 2022: Reducing activation recomputation in large transformer models, arXiv 2205.05198.
//   Liu, Zaharia, Abbeel 2023: Ring attention with blockwise transformers, arXiv 2310.01889.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace prediction {

// --- messages ---------------------------------------------------------------------------------------------------

/// What connects two ranks.
struct connection {
  double latency = 0;           ///< seconds of a message without bytes
  double bandwidth = 1;         ///< bytes per second of one rank, in each direction
  double reduce_bandwidth = 1;  ///< the same while the rank adds up what arrives
  double gap = 0;               ///< seconds between two messages that a rank starts one after another (LogP)
};

/// How the ranks add up: messages between all pairs at once (dimwise), or the faster of a ring and recursive doubling.
enum class reduction_kind { direct, fastest };

/// A message (Hockney 1994): latency + n / bandwidth.
inline double message_seconds(const connection& l, double bytes) { return l.latency + bytes / l.bandwidth; }

/// A ring all-reduce (Patarasuk, Yuan 2009): 2(P − 1) steps of n / P bytes.
inline double ring_all_reduce_seconds(const connection& l, double ranks, double bytes) {
  return ranks <= 1 ? 0 : 2 * (ranks - 1) * (l.latency + bytes / ranks / l.reduce_bandwidth);
}

/// An all-reduce by recursive doubling (Thakur et al. 2005): log2 P steps of n bytes, for short sums.
inline double doubling_all_reduce_seconds(const connection& l, double ranks, double bytes) {
  return ranks <= 1 ? 0 : std::ceil(std::log2(ranks)) * (l.latency + bytes / l.reduce_bandwidth);
}

/// The all-reduce of dimwise: every rank sends to every other rank at once. Up to 4096 bytes one exchange of whole
/// sums, otherwise an exchange of parts and one of their sums: the 2(P − 1) / P · n bytes of a ring in two latencies.
inline double direct_all_reduce_seconds(const connection& l, double ranks, double bytes) {
  if (ranks <= 1) { return 0; }
  const double start = l.latency + (ranks - 2) * l.gap;
  constexpr double short_bytes = 4096;
  if (bytes <= short_bytes) { return start + (ranks - 1) * bytes / l.reduce_bandwidth; }
  return 2 * (start + (ranks - 1) / ranks * bytes / l.reduce_bandwidth);
}

/// The all-reduce of a machine.
inline double all_reduce_seconds(reduction_kind how, const connection& l, double ranks, double bytes) {
  switch (how) {
    case reduction_kind::direct:
      return direct_all_reduce_seconds(l, ranks, bytes);
    case reduction_kind::fastest:
      return std::min(ring_all_reduce_seconds(l, ranks, bytes), doubling_all_reduce_seconds(l, ranks, bytes));
  }
  return 0;
}

/// A gather of n bytes on every rank, of which each has n / P: (P − 1) / P · n bytes arrive (Thakur et al. 2005).
inline double all_gather_seconds(reduction_kind how, const connection& l, double ranks, double bytes) {
  if (ranks <= 1) { return 0; }
  const double start = how == reduction_kind::direct ? l.latency + (ranks - 2) * l.gap : (ranks - 1) * l.latency;
  return start + (ranks - 1) / ranks * bytes / l.bandwidth;
}

// --- arithmetic -------------------------------------------------------------------------------------------------

/// The parameters of a GPT (Narayanan et al. 2021, equation 2): 12 l h² (1 + 13 / (12 h) + (V + s) / (12 l h)).
inline double gpt_parameters(double layers, double width, double vocab, double positions) {
  return 12 * layers * width * width * (1 + 13 / (12 * width) + (vocab + positions) / (12 * layers * width));
}

/// The operations of a training step of a GPT whose layers are recomputed in the backward pass (Narayanan et al.
/// 2021, equation 3): 96 B s l h² (1 + s / (6 h) + V / (16 l h)). Counts masked scores.
inline double gpt_training_operations(double batch, double context, double layers, double width, double vocab) {
  return 96 * batch * context * layers * width * width * (1 + context / (6 * width) + vocab / (16 * layers * width));
}

/// The operations of a product of m × k by k × n: 2 m k n.
inline double product_operations(double m, double k, double n) { return 2 * m * k * n; }

/// The operations of attention of m queries over n keys in `width` features of all heads: two products, 4 m n width.
inline double attention_operations(double queries, double keys, double width) { return 4 * queries * keys * width; }

/// Seconds of a kernel that computes and reads at once (the roofline: Williams, Waterman, Patterson 2009).
inline double roofline_seconds(double operations, double rate, double bytes, double bandwidth) {
  return std::max(operations / rate, bytes / bandwidth);
}

// --- pipelines and rings ----------------------------------------------------------------------------------------

/// The idle time of a pipeline over its computing time (Narayanan et al. 2021, section 2.2): (p − 1) / (v m) for m
/// micro-batches and v chunks of layers in each stage.
inline double bubble_share(double stages, double micro_batches, double chunks) {
  return (stages - 1) / (chunks * micro_batches);
}

/// What is left of a message after `hiding` seconds of computing at the same time.
inline double exposed_seconds(double message, double hiding) { return std::max(0.0, message - hiding); }

// --- memory -----------------------------------------------------------------------------------------------------

/// The optimiser state of a rank (Rajbhandari et al. 2020): with ZeRO-1 each of P ranks has one part.
inline double state_bytes(double parameters, double bytes_of_one, double ranks, bool zero_1) {
  return parameters * bytes_of_one / (zero_1 ? ranks : 1);
}

/// What a layer of a GPT saves for the backward pass in 16 bits, with stored scores and dropout (Korthikanti et al.
/// 2022, equation 2): s b h (10 + 24 / t + 5 a s / (h t)).
inline double gpt_saved_bytes(double context, double batch, double width, double heads, double tp) {
  return context * batch * width * (10 + 24 / tp + 5 * heads * context / (width * tp));
}

/// The same if the scores are recomputed (equation 6 with tensor parallelism alone): s b h (10 + 24 / t).
inline double gpt_saved_bytes_without_scores(double context, double batch, double width, double tp) {
  return context * batch * width * (10 + 24 / tp);
}

/// The layers whose activations the first stage holds at once (Narayanan et al. 2021; Korthikanti et al. 2022,
/// section 4.2.3): those of min(p, m) micro-batches, with v > 1 chunks 1 + (p − 1) / (p v) times as many.
inline double layers_in_flight(double layers, double stages, double micro_batches, double chunks) {
  const double interleaved = chunks > 1 ? 1 + (stages - 1) / (stages * chunks) : 1;
  return layers / stages * std::min(stages, micro_batches) * interleaved;
}

/// The KV cache of a rank: keys and values of all layers, heads and positions of its part of the batch.
inline double cache_bytes(double layers, double kv_width, double positions, double sequences, double bytes_of_one) {
  return 2 * layers * kv_width * positions * sequences * bytes_of_one;
}

}  // namespace prediction

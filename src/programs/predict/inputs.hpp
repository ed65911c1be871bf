// src/programs/predict/inputs.hpp -- a model, a task, a machine and a placement, the results for them, and the
// parameters of a model.
// Tests: tests/programs/predict.test.cpp
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "formulas.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace prediction {

/// The sizes of a decoder.
struct model {
  std::string name{};
  double layers = 1;
  double d_model = 1;
  double heads = 1;
  double kv_heads = 1;
  double d_k = 1;
  double hidden = 1;         ///< features of the feed-forward layer that a token uses
  double stored_hidden = 0;  ///< of all experts; 0: as `hidden`
  double vocab = 1;
  double positions = 0;  ///< rows of learned positions
  bool gated = false;
  bool tied = true;
  bool biases = false;
  bool layer_norm = false;  ///< scale and shift; otherwise a scale alone
};

enum class task_kind { train, prefill, decode };

/// What is computed in a step. `context` is the length of a sequence; for decoding, the positions in the cache.
struct task {
  task_kind kind = task_kind::train;
  double batch = 1;  ///< sequences of all ranks
  double context = 1;
  double weight_bytes = 4;
  double gradient_bytes = 4;
  double state_bytes = 8;  ///< of the optimiser, for each parameter
  double activation_bytes = 4;
  bool causal = true;
};

enum class recomputation { none, selective, full };

/// How the ranks divide the work.
struct placement {
  double dp = 1;
  double tp = 1;
  double sp = 1;
  double pp = 1;
  double micro_batch = 0;  ///< sequences that a pipeline computes at once; 0: all that it has
  double chunks = 1;       ///< parts of the layers of a stage (interleaved schedule)
  bool zero_1 = false;
  recomputation again = recomputation::none;
  [[nodiscard]] double ranks() const { return dp * tp * sp * pp; }
};

/// What a rank reaches, measured or from a data sheet.
struct machine {
  std::string name{};
  double product_rate = 1;         ///< operations per second of products
  double attention_rate = 1;       ///< of attention
  double stream_bandwidth = 1;     ///< bytes per second of weights that are read once
  double pointwise_bandwidth = 1;  ///< of elementwise kernels, read and written
  double call = 0;                 ///< seconds that a kernel takes without elements
  double memory = 0;               ///< bytes of a rank; 0: not known
  double ranks_per_machine = 1;    ///< ranks that `near` connects
  double cores = 0;                ///< ranks of a machine that compute at full speed; 0: all
  double far_links = 1;            ///< links of a machine to others, which its ranks share
  connection near{};
  connection far{};
  reduction_kind reduction = reduction_kind::direct;
  bool stores_scores = false;  ///< attention writes its scores to memory
  bool counts_masked = false;  ///< attention computes masked scores
  bool overlaps_data = false;  ///< gradients are reduced while the backward pass goes on
};

/// The seconds of a step on the slowest rank.
struct step_seconds {
  double products = 0;
  double attention = 0;
  double pointwise = 0;  ///< elementwise kernels, and calls
  double optimiser = 0;
  double bubble = 0;
  double tensor = 0;  ///< all-reduces along tp
  double ring = 0;    ///< blocks of keys and values, merges of caches: what computing does not hide
  double pipeline = 0;
  double data = 0;         ///< gradients
  double hidden_ring = 0;  ///< what computing hides; not part of the total
  double hidden_data = 0;
  [[nodiscard]] double computing() const { return products + attention + pointwise + optimiser; }
  [[nodiscard]] double exposed() const { return tensor + ring + pipeline + data; }
  [[nodiscard]] double hidden() const { return hidden_ring + hidden_data; }
  [[nodiscard]] double total() const { return computing() + exposed() + bubble; }
};

/// The bytes of the rank that holds most.
struct rank_bytes {
  double weights = 0;
  double gradients = 0;
  double state = 0;
  double activations = 0;
  double cache = 0;
  [[nodiscard]] double total() const { return weights + gradients + state + activations + cache; }
};

struct forecast {
  placement where{};
  step_seconds time{};
  rank_bytes memory{};
  double operations = 0;  ///< of all ranks in the step, those of recomputed layers included
};

// --- counts of a model ------------------------------------------------------------------------------------------

inline double feed_matrices(const model& m, double hidden) { return (m.gated ? 3 : 2) * m.d_model * hidden; }
inline double attention_matrices(const model& m) { return 2 * m.d_model * m.d_k * (m.heads + m.kv_heads); }
inline double stored_hidden(const model& m) { return std::max(m.stored_hidden, m.hidden); }

/// The parameters of a layer: matrices, biases, two norms.
inline double layer_parameters(const model& m) {
  const double biases =
      m.biases ? m.d_k * (m.heads + 2 * m.kv_heads) + 2 * m.d_model + (m.gated ? 2 : 1) * stored_hidden(m) : 0;
  return attention_matrices(m) + feed_matrices(m, stored_hidden(m)) + biases + 2 * m.d_model * (m.layer_norm ? 2 : 1);
}

/// The parameters of a model: layers, last norm, token embeddings, output, learned positions.
inline double parameters(const model& m) {
  return m.layers * layer_parameters(m) + m.d_model * (m.layer_norm ? 2 : 1) + (m.tied ? 1 : 2) * m.vocab * m.d_model +
         m.positions * m.d_model;
}

/// The parameters of the rank that has most: the first or the last stage.
inline double parameters_here(const model& m, const placement& p) {
  const double tables = p.pp > 1 || m.tied ? 1 : 2;
  return m.layers / p.pp * layer_parameters(m) / p.tp + m.d_model * (m.layer_norm ? 2 : 1) +
         tables * m.vocab * m.d_model / p.tp + m.positions * m.d_model;
}

/// Why a placement is not possible; empty if it is.
inline std::string problem_of(const model& m, const task& t, const placement& p) {
  const auto divides = [](double part, double whole) { return std::fmod(whole, part) == 0; };
  const auto said = [](const char* axis, double part, const char* what, double whole) {
    return std::string(axis) + " " + std::to_string(static_cast<std::int64_t>(part)) + " does not divide " +
           std::to_string(static_cast<std::int64_t>(whole)) + " " + what;
  };
  if (!divides(p.tp, m.kv_heads)) { return said("tp", p.tp, "key heads", m.kv_heads); }
  if (!divides(p.tp, m.heads)) { return said("tp", p.tp, "heads", m.heads); }
  if (!divides(p.tp, m.hidden)) { return said("tp", p.tp, "hidden features", m.hidden); }
  if (!divides(p.pp * p.chunks, m.layers)) { return said("pp times chunks", p.pp * p.chunks, "layers", m.layers); }
  if (!divides(p.dp, t.batch)) { return said("dp", p.dp, "sequences", t.batch); }
  if (!divides(p.sp, t.context)) { return said("sp", p.sp, "positions", t.context); }
  const double own = t.batch / p.dp;
  if (p.micro_batch > 0 && !divides(p.micro_batch, own)) {
    return said("micro", p.micro_batch, "sequences of a pipeline", own);
  }
  const double micro_batches = own / (p.micro_batch > 0 ? p.micro_batch : own);
  if (p.chunks > 1 && !divides(p.pp, micro_batches)) {
    return said("with chunks, pp", p.pp, "micro-batches", micro_batches);
  }
  return {};
}

}  // namespace prediction

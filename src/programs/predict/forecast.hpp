// src/programs/predict/forecast.hpp -- the time of a step and the memory of a rank, from a model, a machine and a
// placement, by the formulas of formulas.hpp.
//
// The ranks are numbered tp first, then sp, dp and pp: neighbours in tp are on one machine. A step is a training step,
// the forward pass of a prompt, or one token of every sequence. One rank is one thread, or one GPU.
// Tests: tests/programs/predict.test.cpp
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "formulas.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

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

// --- one layer --------------------------------------------------------------------------------------------------

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

// --- a step -----------------------------------------------------------------------------------------------------

/// The link of a group whose neighbours are `stride` ranks apart: near if the whole group is on one machine. The ranks
/// of a machine share its links to other machines.
inline connection link_of(const machine& on, double all_ranks, double stride, double size) {
  if (stride * size <= on.ranks_per_machine) { return on.near; }
  connection l = on.far;
  const double share = std::min(1.0, on.far_links / std::min(all_ranks, on.ranks_per_machine));
  l.bandwidth *= share;
  l.reduce_bandwidth *= share;
  return l;
}

/// How much slower a rank computes if a machine has more ranks than cores.
inline double slowdown(const machine& on, double all_ranks) {
  const double here = std::min(all_ranks, on.ranks_per_machine);
  return on.cores > 0 && here > on.cores ? here / on.cores : 1;
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

/// The memory of the rank that has most.
inline rank_bytes memory_of(const model& m, const machine& on, const task& t, const placement& p) {
  rank_bytes bytes;
  const double own = t.batch / p.dp;
  const double micro = p.micro_batch > 0 ? p.micro_batch : own;
  const double here = parameters_here(m, p);
  const double positions = t.context / p.sp;
  bytes.weights = here * t.weight_bytes;
  if (t.kind == task_kind::train) {
    bytes.gradients = here * t.gradient_bytes;
    bytes.state = state_bytes(here, t.state_bytes, p.dp * p.sp, p.zero_1);
    const double layers = layers_in_flight(m.layers, p.pp, own / micro, p.chunks);
    const double one = saved_bytes(m, on, t, micro, positions, p.tp, p.again);
    const double input = micro * positions * m.d_model * t.activation_bytes;
    bytes.activations = p.again == recomputation::full ? layers * input + one : layers * one;
    // The logits and their gradient, in 32 bits, on the last stage, which holds one micro-batch.
    const double logits = 8 * micro * positions * m.vocab / p.tp;
    bytes.activations =
        p.pp > 1 ? std::max(bytes.activations, bytes.activations / p.pp + logits) : bytes.activations + logits;
  } else {
    const double rows = t.kind == task_kind::prefill ? micro * positions : micro;
    bytes.activations =
        rows * (4 * m.d_model + ((m.gated ? 2 : 1) * m.hidden + 2 * m.d_k * (m.heads + m.kv_heads)) / p.tp) *
            t.activation_bytes +
        4 * micro * m.vocab / p.tp;
    if (on.stores_scores) {  // of one layer
      const double queries = t.kind == task_kind::prefill ? positions : 1;
      bytes.activations += micro * queries * t.context * m.heads / p.tp * t.activation_bytes;
    }
    bytes.cache = cache_bytes(m.layers / p.pp, m.kv_heads * m.d_k / p.tp, positions, own, t.activation_bytes);
  }
  return bytes;
}

/// The step of a placement that is possible (`problem_of`).
inline forecast predict(const model& m, const machine& on, const task& t, const placement& p) {
  forecast f{.where = p, .memory = memory_of(m, on, t, p)};
  const double all = p.ranks();
  const double own = t.batch / p.dp;
  const double micro = p.micro_batch > 0 ? p.micro_batch : own;
  const double micro_batches = own / micro;
  const double positions = t.context / p.sp;  // of a rank
  const bool trains = t.kind == task_kind::train;
  const double queries = t.kind == task_kind::decode ? 1 : positions;
  const double keys = t.kind == task_kind::decode ? positions : t.context;
  const double slow = slowdown(on, all);
  const double rows = micro * queries;

  // Computing of a micro-batch in a stage: forward, twice that backward (attention on recomputed scores: 2.5 times),
  // and what is computed again. Only training has a backward pass.
  const layer_seconds layer = whole_layer_seconds(m, on, t, micro, queries, keys, p.tp);
  const double layers = m.layers / p.pp;
  const double again = trains && p.again == recomputation::full ? 1 : 0;
  const double attention_again = trains && p.again != recomputation::none ? 1 : 0;
  const double scores_again = on.stores_scores ? 0 : 0.5;
  const double back = trains ? 2 : 0;
  const double attention_back = trains ? 2 + scores_again : 0;
  step_seconds stage;
  stage.products = layers * layer.products * (1 + back + again);
  stage.attention = layers * layer.attention * (1 + attention_back + attention_again);
  stage.pointwise = layers * layer.pointwise * (1 + back + again);
  // The output. A prompt needs the logits of its last position only.
  const double output_rows = t.kind == task_kind::prefill ? micro : rows;
  const double output = product_seconds(on, t, output_rows, m.d_model, m.vocab / p.tp, m.d_model * m.vocab / p.tp);
  const double loss = trains ? 5 * output_rows * m.vocab / p.tp * 4 / on.pointwise_bandwidth : 0;
  // Messages of a micro-batch.
  const double sent = rows * m.d_model * t.activation_bytes;
  const connection tensor = link_of(on, all, 1, p.tp);
  stage.tensor = layers * (2 + back + 2 * again) * all_reduce_seconds(on.reduction, tensor, p.tp, sent);
  const connection along_sp = link_of(on, all, p.tp, p.sp);
  if (t.kind == task_kind::decode) {  // parts of attention are merged by their log-sum-exp: output, maximum and sum
    stage.ring = layers * all_reduce_seconds(on.reduction, along_sp, p.sp, rows * m.heads / p.tp * (m.d_k + 2) * 4);
  } else {
    const double block = micro * positions * 2 * m.kv_heads * m.d_k / p.tp * t.activation_bytes;
    const ring_seconds forward = ring_attention_seconds(along_sp, p.sp, block, slow * layer.attention);
    // Backward, keys and values go round with their gradients.
    const ring_seconds backward =
        trains ? ring_attention_seconds(along_sp, p.sp, 2 * block, slow * layer.attention * attention_back)
               : ring_seconds{};
    stage.ring = layers * ((1 + attention_again) * forward.exposed + backward.exposed);
    stage.hidden_ring = layers * ((1 + attention_again) * forward.hidden + backward.hidden);
  }
  // Each rank of tp sends its part of what they all have to the next stage, which gathers it.
  const double boundary = p.pp <= 1 ? 0
                                    : message_seconds(link_of(on, all, all / p.pp, p.pp), sent / p.tp) +
                                          all_gather_seconds(on.reduction, tensor, p.tp, sent);

  const double stage_total = slow * stage.computing() + stage.tensor + stage.ring;
  step_seconds& time = f.time;
  time.products = micro_batches * slow * (stage.products + output * (1 + back));
  time.attention = micro_batches * slow * stage.attention;
  time.pointwise = micro_batches * slow * (stage.pointwise + loss);
  time.tensor = micro_batches * stage.tensor;
  time.ring = micro_batches * stage.ring;
  time.hidden_ring = micro_batches * stage.hidden_ring;
  time.bubble = bubble_share(p.pp, micro_batches, p.chunks) * micro_batches * stage_total;
  time.pipeline = p.pp <= 1 ? 0
                  : trains  ? 2 * p.chunks * micro_batches * boundary
                            : (micro_batches + p.pp - 2) * boundary;
  if (trains) {
    const double here = parameters_here(m, p);
    const double group = p.dp * p.sp;
    const connection data = link_of(on, all, p.tp, group);
    const double reduced = all_reduce_seconds(on.reduction, data, group, here * t.gradient_bytes);
    const double message = p.zero_1 && group > 1
                               ? reduced / 2 + all_gather_seconds(on.reduction, data, group, here * t.weight_bytes)
                               : reduced;
    const double backward = slow * (stage.computing() * back / (1 + back));
    time.data = on.overlaps_data ? exposed_seconds(message, backward) : message;
    time.hidden_data = message - time.data;
    const double touched = 2 * t.state_bytes + t.gradient_bytes + 2 * t.weight_bytes;
    time.optimiser = slow * here / (p.zero_1 ? group : 1) * touched / on.pointwise_bandwidth;
  }
  const double output_operations = product_operations(output_rows, m.d_model, m.vocab);
  f.operations = micro_batches * p.dp * p.sp *
                 (m.layers * p.tp * layer.operations * (1 + back + again) + output_operations * (1 + back));
  return f;
}

/// Whether a forecast fits into the memory of a rank.
inline bool fits(const machine& on, const forecast& f) { return on.memory <= 0 || f.memory.total() <= on.memory; }

/// How a search may place a model.
struct search_space {
  bool zero_1 = false;
  recomputation again = recomputation::none;
  double micro_batch = 0;  ///< 0: any
  double most_tp = 0;      ///< 0: any
};

/// All possible placements on `ranks` ranks: those that fit by time, then the others by memory. First is the simplest
/// of those within 1 % of the fastest, which the prediction does not tell apart: it divides the model least.
inline std::vector<forecast> search(const model& m, const machine& on, const task& t, double ranks,
                                    const search_space& space) {
  std::vector<forecast> found;
  const auto try_one = [&](const placement& p) {
    if (problem_of(m, t, p).empty()) { found.push_back(predict(m, on, t, p)); }
  };
  for (double tp = 1; tp <= ranks && (space.most_tp <= 0 || tp <= space.most_tp); ++tp) {
    if (std::fmod(ranks, tp) != 0 || std::fmod(m.kv_heads, tp) != 0) { continue; }
    for (double sp = 1; tp * sp <= ranks; ++sp) {
      if (std::fmod(ranks, tp * sp) != 0 || std::fmod(t.context, sp) != 0) { continue; }
      for (double pp = 1; tp * sp * pp <= ranks; ++pp) {
        if (std::fmod(ranks, tp * sp * pp) != 0 || std::fmod(m.layers, pp) != 0) { continue; }
        placement p{
            .dp = ranks / (tp * sp * pp), .tp = tp, .sp = sp, .pp = pp, .zero_1 = space.zero_1, .again = space.again};
        for (const double micro : {0.0, 1.0, 2.0, 4.0, 8.0, 16.0}) {
          if (space.micro_batch > 0 && micro != 0) { break; }
          p.micro_batch = space.micro_batch > 0 ? space.micro_batch : micro;
          for (const double chunks : {1.0, 2.0, 4.0}) {
            if (chunks > 1 && (pp == 1 || t.kind != task_kind::train)) { break; }
            p.chunks = chunks;
            try_one(p);
          }
        }
      }
    }
  }
  std::sort(found.begin(), found.end(), [&](const forecast& a, const forecast& b) {
    if (fits(on, a) != fits(on, b)) { return fits(on, a); }
    const auto order = [&](const forecast& f) {  // of equals, the one that divides less
      const double first = fits(on, f) ? f.time.total() : f.memory.total();
      return std::tuple(first, f.memory.total(), f.where.tp, f.where.sp, f.where.pp, f.where.chunks,
                        f.where.micro_batch);
    };
    return order(a) < order(b);
  });
  if (!found.empty() && fits(on, found.front())) {
    const double most = 1.01 * found.front().time.total();
    auto simplest = found.begin();
    const auto divided = [](const forecast& f) { return f.where.tp * f.where.sp * f.where.pp; };
    for (auto one = found.begin(); one != found.end() && fits(on, *one) && one->time.total() <= most; ++one) {
      if (divided(*one) < divided(*simplest)) { simplest = one; }
    }
    std::rotate(found.begin(), simplest, simplest + 1);
  }
  return found;
}

/// The part of a step that takes longest, besides products, and what it is bound by.
inline std::string limit_of(const machine& on, const forecast& f) {
  if (!fits(on, f)) {
    const rank_bytes& b = f.memory;
    const double most = std::max({b.weights, b.gradients, b.state, b.activations, b.cache});
    if (most == b.weights) { return "memory: weights"; }
    if (most == b.gradients) { return "memory: gradients"; }
    if (most == b.state) { return "memory: optimiser state"; }
    return most == b.activations ? "memory: activations" : "memory: KV cache";
  }
  const step_seconds& s = f.time;
  const double most =
      std::max({s.products, s.attention, s.pointwise, s.optimiser, s.bubble, s.tensor, s.ring, s.pipeline, s.data});
  if (most == s.products) { return "products"; }
  if (most == s.attention) { return "attention"; }
  if (most == s.pointwise) { return "elementwise kernels"; }
  if (most == s.optimiser) { return "optimiser"; }
  if (most == s.bubble) { return "bubbles"; }
  if (most == s.tensor) { return "messages of tp"; }
  if (most == s.ring) { return "messages of sp"; }
  return most == s.pipeline ? "messages of pp" : "gradients";
}

}  // namespace prediction

// src/programs/predict/forecast.hpp -- the time of a step and the memory of a rank, from a model, a machine and a
// placement, by the formulas of formulas.hpp.
//
// The ranks are numbered tp first, then sp, dp and pp: neighbours in tp are on one machine. A step is a training step,
// the forward pass of a prompt, or one token of every sequence. One rank is one thread, or one GPU.
// Tests: tests/programs/predict.test.cpp
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "layer.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <vector>

namespace prediction {

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
  // and what is recomputed. Only training has a backward pass.
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

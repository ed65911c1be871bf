// SPDX-License-Identifier: BSL-1.0
// dimwise/models/decoder/mixture.hpp -- a mixture of experts that computes only the chosen experts of each position,
// and an expert that all positions share.
//
// Layer: models.
// Tests: tests/models/decoder.test.cpp, tests/models/mixtures.test.cpp, the conformance suite `architectures`
#pragma once

#include <dimwise/models/common/feed_forward.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <vector>

namespace dimwise::models {

/// How many experts a position chooses, and what their weights are.
struct mixture_settings {
  std::size_t chosen = 1;
  bool renormalised = true;  ///< the weights of the chosen experts sum to 1
  double near = 0;           ///< above 0: SparseMixer, whose weights count experts within this relative distance alone
};

/// The gate of a shared expert.
struct shared_gate : feature_dim<1> {};

/// The sum of the `chosen` likeliest experts, weighted by the softmax of the router over all experts (Shazeer et al.
/// 2017) or by SparseMixer (Liu et al. 2024), and of a shared expert, weighted by the sigmoid of its gate (Qwen 1.5
/// MoE): [P, Model] -> the same.
template <class P, class Model, class Experts, class Hidden, class Weights = float, class SharedHidden = Hidden>
struct mixture_of_experts {
  using router_type = nn::linear<nn::from<Model>, nn::to<Experts>, nn::optional_bias>;
  using expert_type = any_feed_forward<Model, Hidden, Weights>;
  using expert_list = std::vector<expert_type>;
  using features = tensor<float, P, Model>;
  using shared_type = any_feed_forward<Model, SharedHidden, Weights>;
  using shared_list = std::vector<shared_type>;
  using gate_type = nn::linear<nn::from<Model>, nn::to<shared_gate>, nn::no_bias>;
  using gate_list = std::vector<gate_type>;
  router_type router{};
  expert_list experts{};
  // One of both with a shared expert, none without.
  shared_list shared{};
  gate_list gate{};
  mixture_settings settings{};
  using members =
      nn::member_list<&mixture_of_experts::router, &mixture_of_experts::experts, &mixture_of_experts::shared,
                      &mixture_of_experts::gate, &mixture_of_experts::settings>;

  [[nodiscard]] features operator()(const features& x) const {
    const features routed = of_chosen(x);
    if (shared.empty()) { return routed; }
    const features of_all = shared.front()(x);
    const tensor<float, P> share = at<shared_gate>(sigmoid(gate.front()(x)), 0);
    return routed + of_all * share;
  }

 private:
  // The weight of the expert e by SparseMixer: its share of the experts that are not chosen before it, and whose logits
  // are near its own.
  [[nodiscard]] float near_share(std::span<const float> logits, std::span<const std::size_t> before,
                                 std::size_t e) const {
    float sum = 0;
    for (std::size_t i = 0; i < logits.size(); ++i) {
      if (std::find(before.begin(), before.end(), i) != before.end()) { continue; }
      const float distance = logits[e] - logits[i];
      const float size = std::max(std::abs(logits[i]), logits[e]);
      if (i == e || !(distance > static_cast<float>(settings.near) * size)) { sum += std::exp(-distance); }
    }
    return 1 / sum;
  }
  [[nodiscard]] features of_chosen(const features& x) const {
    const tensor<float, P, Experts> logits = router(x);
    const tensor<float, P, Experts, normalised<Experts>> chances = softmax<Experts>(logits);
    const std::size_t count = experts.size();
    const std::size_t positions = extent_of<P>(x);
    const std::size_t width = extent_of<Model>(x);
    // The positions of each expert, and their weights.
    std::vector<std::vector<std::size_t>> chosen(count);
    std::vector<std::vector<float>> weights(count);
    std::vector<std::size_t> order(count);
    for (std::size_t p = 0; p < positions; ++p) {
      const float* const chance = chances.data() + p * count;
      const float* const logit = logits.data() + p * count;
      std::iota(order.begin(), order.end(), std::size_t{0});
      const auto last = order.begin() + static_cast<std::ptrdiff_t>(std::min(settings.chosen, count));
      // By logits: the chances of several experts may be rounded to 0.
      std::partial_sort(order.begin(), last, order.end(), [&](std::size_t a, std::size_t b) {
        return logit[a] > logit[b] || (!(logit[b] > logit[a]) && a < b);
      });
      float sum = 0;
      for (auto e = order.begin(); e != last; ++e) { sum += chance[*e]; }
      for (auto e = order.begin(); e != last; ++e) {
        chosen[*e].push_back(p);
        weights[*e].push_back(settings.near > 0       ? near_share({logit, count}, {order.begin(), e}, *e)
                              : settings.renormalised ? chance[*e] / sum
                                                      : chance[*e]);
      }
    }
    std::vector<float> sum(positions * width);
    std::vector<float> rows;
    for (std::size_t e = 0; e < count; ++e) {
      if (chosen[e].empty()) { continue; }
      rows.clear();
      for (const std::size_t p : chosen[e]) {
        rows.insert(rows.end(), x.data() + p * width, x.data() + (p + 1) * width);
      }
      const features y = experts[e](features(std::span<const float>(rows), P{chosen[e].size()}, Model{width}));
      for (std::size_t i = 0; i < chosen[e].size(); ++i) {
        const float* const from = y.data() + i * width;
        float* const to = sum.data() + chosen[e][i] * width;
        for (std::size_t f = 0; f < width; ++f) { to[f] += weights[e][i] * from[f]; }
      }
    }
    return features(std::span<const float>(sum), starting_at(P{positions}, x.extents().template origin<P>("experts")),
                    Model{width});
  }
};

}  // namespace dimwise::models

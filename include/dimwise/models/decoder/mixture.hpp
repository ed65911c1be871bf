// SPDX-License-Identifier: BSL-1.0
// dimwise/models/decoder/mixture.hpp -- a mixture of experts that computes only the chosen experts of each position,
// and an expert that all positions share.
//
// Layer: models.
// Tests: tests/models/decoder.test.cpp, the conformance suite `architectures`
#pragma once

#include <dimwise/models/common/feed_forward.hpp>

#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

namespace dimwise::models {

/// What makes a router's logits the scores of experts: softmax over all experts, or the sigmoid of each.
enum class router_kind { softmax, sigmoid };

/// How a position chooses experts, and how it weights them.
struct mixture_settings {
  std::size_t chosen = 1;
  bool renormalised = true;  ///< the weights are divided by their sum
  router_kind router = router_kind::softmax;
  double scale = 1;               ///< of the weights
  std::size_t groups = 1;         ///< of neighbouring experts
  std::size_t chosen_groups = 1;  ///< whose experts may be chosen
  std::size_t best_of_group = 1;  ///< the experts of a group whose scores are its score
};

namespace detail {

// The experts of the largest scores, among those of the chosen groups; the best first.
inline std::vector<std::size_t> chosen_experts(std::span<const float> scores, const mixture_settings& s) {
  const auto best_first = [](std::span<const float> of, std::vector<std::size_t>& which, std::size_t n) {
    n = std::min(n, which.size());
    std::partial_sort(which.begin(), which.begin() + static_cast<std::ptrdiff_t>(n), which.end(),
                      [&](std::size_t a, std::size_t b) { return of[a] > of[b] || (!(of[b] > of[a]) && a < b); });
    which.resize(n);
  };
  std::vector<std::size_t> all(scores.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  if (s.groups > 1) {
    const std::size_t size = scores.size() / s.groups;
    std::vector<float> of_groups;
    std::vector<std::size_t> groups(s.groups);
    std::iota(groups.begin(), groups.end(), std::size_t{0});
    for (const std::size_t g : groups) {
      std::vector<std::size_t> best(size);
      std::iota(best.begin(), best.end(), g * size);
      best_first(scores, best, s.best_of_group);
      float sum = 0;
      for (const std::size_t e : best) { sum += scores[e]; }
      of_groups.push_back(sum);
    }
    best_first(of_groups, groups, s.chosen_groups);
    all.clear();
    for (const std::size_t g : groups) {
      for (std::size_t e = g * size; e < (g + 1) * size; ++e) { all.push_back(e); }
    }
  }
  best_first(scores, all, s.chosen);
  return all;
}

}  // namespace detail

/// The gate of a shared expert.
struct shared_gate : feature_dim<1> {};

/// The sum of the `chosen` experts of the largest scores, weighted by these (Shazeer et al. 2017), and of a shared
/// expert, weighted by the sigmoid of its gate if it has one (Qwen 1.5 MoE): [P, Model] -> the same. A correction is
/// added to the scores that choose, not to those that weight (DeepSeek-AI 2024, V3).
template <class P, class Model, class Experts, class Hidden, class Weights = float, class SharedHidden = Hidden>
struct mixture_of_experts {
  using router_type = nn::linear<nn::from<Model>, nn::to<Experts>, nn::optional_bias>;
  using correction_list = std::vector<tensor<float, Experts>>;
  using expert_type = any_feed_forward<Model, Hidden, Weights>;
  using expert_list = std::vector<expert_type>;
  using features = tensor<float, P, Model>;
  using shared_type = any_feed_forward<Model, SharedHidden, Weights>;
  using shared_list = std::vector<shared_type>;
  using gate_type = nn::linear<nn::from<Model>, nn::to<shared_gate>, nn::no_bias>;
  using gate_list = std::vector<gate_type>;
  router_type router{};
  correction_list correction{};
  expert_list experts{};
  // None without a shared expert.
  shared_list shared{};
  gate_list gate{};
  mixture_settings settings{};
  using members =
      nn::member_list<&mixture_of_experts::router, &mixture_of_experts::correction, &mixture_of_experts::experts,
                      &mixture_of_experts::shared, &mixture_of_experts::gate, &mixture_of_experts::settings>;

  [[nodiscard]] features operator()(const features& x) const {
    const features routed = of_chosen(x);
    if (shared.empty()) { return routed; }
    const features of_all = shared.front()(x);
    if (gate.empty()) { return routed + of_all; }
    const tensor<float, P> share = at<shared_gate>(sigmoid(gate.front()(x)), 0);
    return routed + of_all * share;
  }

 private:
  // The scores of all experts, for each position.
  [[nodiscard]] std::vector<float> scores(const features& x) const {
    const tensor<float, P, Experts> logits = router(x);
    const auto listed = [](const auto& all) { return std::vector<float>(all.data(), all.data() + all.size()); };
    switch (settings.router) {
      case router_kind::softmax:
        return listed(tensor<float, P, Experts, normalised<Experts>>(softmax<Experts>(logits)));
      case router_kind::sigmoid:
        return listed(tensor<float, P, Experts>(sigmoid(logits)));
    }
    dimwise::detail::raise<number_error>(error{} << "mixture_of_experts: the router is none of those listed");
  }
  [[nodiscard]] features of_chosen(const features& x) const {
    const std::vector<float> chances = scores(x);
    const std::size_t count = experts.size();
    const std::size_t positions = extent_of<P>(x);
    const std::size_t width = extent_of<Model>(x);
    // The positions of each expert, and their weights.
    std::vector<std::vector<std::size_t>> chosen(count);
    std::vector<std::vector<float>> weights(count);
    std::vector<float> choosing;
    for (std::size_t p = 0; p < positions; ++p) {
      const std::span<const float> chance = std::span(chances).subspan(p * count, count);
      choosing.assign(chance.begin(), chance.end());
      if (!correction.empty()) {
        for (std::size_t e = 0; e < count; ++e) { choosing[e] += correction.front().data()[e]; }
      }
      const std::vector<std::size_t> order = detail::chosen_experts(choosing, settings);
      float sum = 1e-20F;  // sigmoids may all be 0
      for (const std::size_t e : order) { sum += chance[e]; }
      for (const std::size_t e : order) {
        chosen[e].push_back(p);
        weights[e].push_back((settings.renormalised ? chance[e] / sum : chance[e]) *
                             static_cast<float>(settings.scale));
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

// SPDX-License-Identifier: BSL-1.0
// dimwise/models/decoder/mixture.hpp -- a mixture of experts that computes only the chosen experts of each position,
// and an expert that all positions share.
//
// Layer: models.
// Tests: tests/models/decoders/decoder.test.cpp, tests/models/decoders/mixtures.test.cpp,
// tests/models/decoders/deepseek.test.cpp, the conformance suite `architectures`
#pragma once

#include <dimwise/models/common/feed_forward.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace dimwise::models {

/// How many experts a position chooses, and what their weights are.
struct mixture_settings {
  std::size_t chosen = 1;
  bool renormalised = true;  ///< the weights of the chosen experts sum to 1
  double near = 0;           ///< above 0: SparseMixer, whose weights count experts within this relative distance alone
  std::size_t groups = 1;    ///< of equal numbers of experts
  std::size_t chosen_groups = 1;  ///< experts of the others are not chosen
  bool by_sigmoid = false;        ///< probabilities by sigmoid; experts are chosen by the sum with their correction
  double scale = 1;               ///< of the weights
};

/// The gate of a shared expert.
struct shared_gate : feature_dim<1> {};

/// The sum of the `chosen` likeliest experts, weighted by the softmax of the router over all experts (Shazeer et al.
/// 2017), by SparseMixer (Liu et al. 2024) or by sigmoid (DeepSeek-AI 2024), and of a shared expert, weighted by the
/// sigmoid of its gate if it has one (Qwen 1.5 MoE): [P, Model] -> the same.
template <class P, class Model, class Experts, class Hidden, class Weights = float, class SharedHidden = Hidden,
          class Dims = void>
struct mixture_of_experts {
  using router_type = nn::linear<nn::from<Model>, nn::to<Experts>, nn::optional_bias>;
  using expert_type = any_feed_forward<Model, Hidden, Weights, Dims>;
  using expert_list = std::vector<expert_type>;
  using features = tensor<float, P, Model>;
  using shared_type = any_feed_forward<Model, SharedHidden, Weights, Dims>;
  using shared_list = std::vector<shared_type>;
  using gate_type = nn::linear<nn::from<Model>, nn::to<shared_gate>, nn::no_bias>;
  using gate_list = std::vector<gate_type>;
  using correction_list = std::vector<tensor<float, Experts>>;
  router_type router{};
  expert_list experts{};
  // One shared expert or none, and its gate.
  shared_list shared{};
  gate_list gate{};
  correction_list correction{};  // of the probabilities, by which experts are chosen
  mixture_settings settings{};
  using members =
      nn::member_list<&mixture_of_experts::router, &mixture_of_experts::experts, &mixture_of_experts::shared,
                      &mixture_of_experts::gate, &mixture_of_experts::correction, &mixture_of_experts::settings>;

  [[nodiscard]] features operator()(const features& x, const gatherer_of<Dims>& parts = {}) const {
    const features routed = of_chosen(x, parts);
    if (shared.empty()) { return routed; }
    const features of_all = shared.front()(x, parts);
    if (gate.empty()) { return routed + of_all; }
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
  // NaN is the largest, so that it is chosen and not hidden; it has no place in an order.
  [[nodiscard]] static float comparable(float choice) {
    return std::isnan(choice) ? std::numeric_limits<float>::infinity() : choice;
  }
  // Makes the experts of other groups than the best unlikely: by the largest choice, with sigmoid by the sum of the two
  // largest.
  void keep_groups(std::span<float> choice) const {
    const std::size_t size = choice.size() / settings.groups;
    std::vector<std::pair<float, std::size_t>> groups;
    for (std::size_t g = 0; g < settings.groups; ++g) {
      std::vector<float> best(choice.begin() + static_cast<std::ptrdiff_t>(g * size),
                              choice.begin() + static_cast<std::ptrdiff_t>((g + 1) * size));
      const std::size_t counted = std::min<std::size_t>(settings.by_sigmoid ? 2 : 1, size);
      std::partial_sort(best.begin(), best.begin() + static_cast<std::ptrdiff_t>(counted), best.end(),
                        [](float a, float b) { return a > b; });
      const float sum = std::accumulate(best.begin(), best.begin() + static_cast<std::ptrdiff_t>(counted), 0.0F);
      groups.emplace_back(-comparable(sum), g);
    }
    std::sort(groups.begin(), groups.end());
    for (std::size_t i = settings.chosen_groups; i < settings.groups; ++i) {
      std::fill_n(choice.begin() + static_cast<std::ptrdiff_t>(groups[i].second * size), size,
                  -std::numeric_limits<float>::infinity());
    }
  }
  [[nodiscard]] features of_chosen(const features& x, const gatherer_of<Dims>& parts) const {
    const tensor<float, P, Experts> logits = router(x);
    const tensor<float, P, Experts> probabilities = settings.by_sigmoid
                                                        ? tensor<float, P, Experts>(sigmoid(logits))
                                                        : tensor<float, P, Experts>(plain(softmax<Experts>(logits)));
    const std::size_t count = experts.size();
    const std::size_t positions = extent_of<P>(x);
    const std::size_t width = extent_of<Model>(x);
    // The positions of each expert, and their weights.
    std::vector<std::vector<std::size_t>> chosen(count);
    std::vector<std::vector<float>> weights(count);
    std::vector<std::size_t> order(count);
    std::vector<float> choice(count);
    for (std::size_t p = 0; p < positions; ++p) {
      const float* const probability = probabilities.data() + p * count;
      const float* const logit = logits.data() + p * count;
      std::iota(order.begin(), order.end(), std::size_t{0});
      const auto last = order.begin() + static_cast<std::ptrdiff_t>(std::min(settings.chosen, count));
      // By logits: the probabilities of several experts may be rounded to 0.
      for (std::size_t e = 0; e < count; ++e) {
        choice[e] = comparable(settings.by_sigmoid ? probability[e] + correction.front().data()[e] : logit[e]);
      }
      if (settings.chosen_groups < settings.groups) { keep_groups(choice); }
      std::partial_sort(order.begin(), last, order.end(), [&](std::size_t a, std::size_t b) {
        return choice[a] > choice[b] || (!(choice[b] > choice[a]) && a < b);
      });
      float sum = 1e-20F;  // not 0 if all probabilities are, which a sigmoid may round to 0
      for (auto e = order.begin(); e != last; ++e) { sum += probability[*e]; }
      for (auto e = order.begin(); e != last; ++e) {
        chosen[*e].push_back(p);
        const float share = settings.near > 0       ? near_share({logit, count}, {order.begin(), e}, *e)
                            : settings.renormalised ? probability[*e] / sum
                                                    : probability[*e];
        weights[*e].push_back(static_cast<float>(settings.scale) * share);
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
      const features y = experts[e](features(std::span<const float>(rows), P{chosen[e].size()}, Model{width}), parts);
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

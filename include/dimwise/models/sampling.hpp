// SPDX-License-Identifier: BSL-1.0
// dimwise/models/sampling.hpp -- samplers of the next token: temperature, top-k, top-p, min-p, repetition penalty.
//
// Layer: models. Each step removes candidates or changes their logits; the example has llama.cpp's order.
// Tests: tests/models/sampling.test.cpp
//
//   nn::random draw(1);
//   const auto token = models::sample(model.next(tokens, caches), {.temperature = 0.8, .top_k = 40}, tokens, draw);
#pragma once

#include <dimwise/nn/parameters/initialise.hpp>
#include <dimwise/tensor/tensor.hpp>

#include <algorithm>
#include <cmath>
#include <span>
#include <unordered_set>
#include <vector>

namespace dimwise::models {

/// The candidates for the next token with their logits, the most probable first.
template <class Vocab>
class candidates {
 public:
  using token = id<Vocab>;
  using word [[deprecated("use token")]] = token;
  /// A token and its logit.
  struct candidate {
    token which;
    double logit;
  };

  /// All tokens of the vocabulary with their logits. Throws `extent_error` for an empty vocabulary and `number_error`
  /// for
  /// NaN, which leaves the probabilities of all tokens undefined.
  explicit candidates(const tensor<float, Vocab>& logits) {
    const auto values = logits.values();
    if (values.empty()) {
      dimwise::detail::raise<extent_error>(error{} << "sampling: the dimension "
                                                   << dimwise::detail::dimension_name<Vocab>()
                                                   << " has no tokens to draw from");
    }
    vocabulary_ = values.size();
    all_.reserve(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (std::isnan(values[i])) {
        dimwise::detail::raise<number_error>(error{} << "sampling: the logit of token " << i << " is NaN");
      }
      all_.push_back({token{i}, static_cast<double>(values[i])});
    }
  }

  /// Keeps the k most probable candidates; 0 keeps all (Fan et al. 2018).
  candidates& top_k(std::size_t k) {
    if (k > 0 && k < all_.size()) {
      const auto end = all_.begin() + static_cast<std::ptrdiff_t>(k);
      if (!sorted_) { std::nth_element(all_.begin(), end, all_.end(), likelier); }
      all_.erase(end, all_.end());
    }
    return *this;
  }
  /// Keeps the smallest set of most probable candidates with total probability p, at least one (Holtzman et al. 2020);
  /// 1 keeps all.
  candidates& top_p(double p) {
    check_number(p, "top_p");
    if (p >= 1) { return *this; }
    const std::vector<double> each = probabilities();
    double sum = 0;
    std::size_t n = 0;
    while (n < each.size() && (n == 0 || sum < p)) { sum += each[n++]; }
    all_.resize(n);
    return *this;
  }
  /// Keeps candidates that are at least p times as probable as the most probable (Nguyen et al. 2024); 0 keeps all.
  candidates& min_p(double p) {
    check_number(p, "min_p");
    if (p <= 0) { return *this; }
    sort();
    const double minimum = all_.front().logit + std::log(std::min(p, 1.0));
    std::erase_if(all_, [&](const candidate& c) { return c.logit < minimum; });
    return *this;
  }
  /// Makes previous tokens less probable: divides positive logits and multiplies negative ones by `penalty` (Keskar et
  /// al. 2019); 1 changes nothing. Throws `index_error` for a token outside the vocabulary.
  candidates& repetition_penalty(std::span<const token> previous, double penalty) {
    (void)dimwise::detail::positive("sampling", "the repetition penalty", penalty);
    for (const token t : previous) {
      if (t.value >= vocabulary_) {
        dimwise::detail::raise<index_error>(
            error{} << "sampling: the earlier id " << t.value << " is outside dimension "
                    << dimwise::detail::dimension_name<Vocab>() << " of extent " << vocabulary_ << " (R18)");
      }
    }
    if (penalty == 1) { return *this; }
    std::unordered_set<std::size_t> all;
    for (const token t : previous) { all.insert(t.value); }
    for (candidate& c : all_) {
      if (all.contains(c.which.value)) { c.logit = c.logit > 0 ? c.logit / penalty : c.logit * penalty; }
    }
    sorted_ = false;
    return *this;
  }
  /// Divides the logits by t: below 1 sharpens the distribution, 0 keeps only the most probable candidate.
  candidates& temperature(double t) {
    check_number(t, "the temperature");
    if (t == 0) {
      const candidate best = likeliest();
      all_.assign(1, best);
    } else {
      for (candidate& c : all_) { c.logit /= t; }
    }
    return *this;
  }

  /// Throws `number_error` for a negative number or NaN.
  static void check_number(double x, const char* what) {
    if (!(x >= 0)) { dimwise::detail::throw_number("sampling", what, x, "number of 0 or more"); }
  }
  /// The most probable candidate; the smallest id of several.
  [[nodiscard]] candidate likeliest() const { return *std::min_element(all_.begin(), all_.end(), likelier); }
  /// The remaining candidates, the most probable first.
  [[nodiscard]] std::span<const candidate> left() {
    sort();
    return all_;
  }
  /// The softmax of the remaining logits, the most probable first. Throws `number_error` if a logit is NaN or the
  /// largest
  /// one is infinite.
  [[nodiscard]] std::vector<double> probabilities() {
    sort();
    std::vector<double> each;
    each.reserve(all_.size());
    double sum = 0;
    for (const candidate& c : all_) {
      each.push_back(std::exp(c.logit - all_.front().logit));
      sum += each.back();
    }
    check(std::isfinite(sum), "the probabilities are undefined: a logit is NaN, or the largest is infinite");
    for (double& p : each) { p /= sum; }
    return each;
  }
  /// Draws one of the remaining candidates by their probabilities.
  [[nodiscard]] token draw(nn::random& numbers) {
    const std::vector<double> each = probabilities();
    double left_over = numbers.uniform();
    std::size_t i = 0;
    while (i + 1 < each.size() && (left_over -= each[i]) >= 0) { ++i; }
    while (i > 0 && each[i] == 0) { --i; }  // rounding may pass the last candidate with p > 0
    return all_[i].which;
  }

 private:
  static void check(bool holds, const char* what) {
    if (!holds) { dimwise::detail::raise<number_error>(error{} << "sampling: " << what); }
  }
  // Ties go to the smaller id, so that the order does not depend on the standard library. NaN, which infinite logits
  // can
  // produce, comes last.
  static bool likelier(const candidate& a, const candidate& b) {
    if (std::isnan(a.logit) || std::isnan(b.logit)) {
      return std::isnan(a.logit) == std::isnan(b.logit) ? a.which.value < b.which.value : std::isnan(b.logit);
    }
    return a.logit != b.logit ? a.logit > b.logit : a.which.value < b.which.value;
  }
  void sort() {
    if (!sorted_) { std::sort(all_.begin(), all_.end(), likelier); }
    sorted_ = true;
  }

  std::vector<candidate> all_;
  std::size_t vocabulary_ = 0;
  bool sorted_ = false;
};

/// The settings of sampling. Temperature 0 selects the most probable token. Negative settings and NaN throw
/// `number_error`.
struct sampling {
  double temperature = 0.8;
  std::size_t top_k = 40;
  double top_p = 0.95;
  double min_p = 0.05;
  double repetition_penalty = 1;
  std::size_t penalised = 64;  ///< number of most recent tokens that are penalised
};

/// A token that follows `previous`, drawn from its logits.
template <class Vocab>
[[nodiscard]] id<Vocab> sample(const tensor<float, Vocab>& logits, const sampling& how,
                               std::span<const std::type_identity_t<id<Vocab>>> previous, nn::random& numbers) {
  candidates<Vocab> c(logits);
  c.repetition_penalty(previous.last(std::min(how.penalised, previous.size())), how.repetition_penalty);
  if (how.temperature == 0) {  // top_p and min_p keep the most probable token, but must be valid
    candidates<Vocab>::check_number(how.top_p, "top_p");
    candidates<Vocab>::check_number(how.min_p, "min_p");
    return c.likeliest().which;
  }
  c.top_k(how.top_k).top_p(how.top_p).min_p(how.min_p).temperature(how.temperature);
  return c.draw(numbers);
}

}  // namespace dimwise::models

// SPDX-License-Identifier: BSL-1.0
// dimwise/models/sampling.hpp -- the next token, drawn from the logits of a language model.
//
// Layer: models. Each step takes away candidates or changes their logits; the chain below has llama.cpp's order.
// Tests: tests/models/sampling.test.cpp
//
//   nn::random draw(1);
//   const auto token = models::sample(model.next(tokens, caches), {.temperature = 0.8, .top_k = 40}, tokens, draw);
#pragma once

#include <dimwise/nn/initialise.hpp>
#include <dimwise/tensor/tensor.hpp>

#include <algorithm>
#include <cmath>
#include <span>
#include <unordered_set>
#include <vector>

namespace dimwise::models {

/// The tokens of a vocabulary that may come next, the likeliest first, with their logits.
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

  /// Every token of the vocabulary with its logit. Throws `extent_error` where there is none, `number_error` where one
  /// is NaN: it says nothing of the others either.
  explicit candidates(const tensor<float, Vocab>& logits) {
    const auto values = logits.values();
    if (values.empty()) {
      dimwise::detail::raise<extent_error>(error{} << "sampling: the dimension "
                                                   << dimwise::detail::dimension_name<Vocab>()
                                                   << " has no tokens to draw from");
    }
    all_.reserve(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      check(!std::isnan(values[i]), "a logit is NaN");
      all_.push_back({token{i}, static_cast<double>(values[i])});
    }
  }

  /// The likeliest k; 0 keeps all (Fan et al. 2018).
  candidates& top_k(std::size_t k) {
    if (k > 0 && k < all_.size()) {
      const auto end = all_.begin() + static_cast<std::ptrdiff_t>(k);
      if (!sorted_) { std::nth_element(all_.begin(), end, all_.end(), likelier); }
      all_.erase(end, all_.end());
    }
    return *this;
  }
  /// The likeliest ones that have the probability p together, at least one (Holtzman et al. 2020); 1 keeps all.
  candidates& top_p(double p) {
    check_probability(p, "top_p");
    if (p >= 1) { return *this; }
    const std::vector<double> each = probabilities();
    double sum = 0;
    std::size_t n = 0;
    while (n < each.size() && (n == 0 || sum < p)) { sum += each[n++]; }
    all_.resize(n);
    return *this;
  }
  /// Those at least p times as probable as the likeliest (Nguyen et al. 2024); 0 keeps all.
  candidates& min_p(double p) {
    check_probability(p, "min_p");
    if (p <= 0) { return *this; }
    sort();
    const double least = all_.front().logit + std::log(std::min(p, 1.0));
    std::erase_if(all_, [&](const candidate& c) { return c.logit < least; });
    return *this;
  }
  /// Tokens that have been said become less likely: positive logits are divided, negative ones multiplied (Keskar et
  /// al. 2019); 1 changes nothing.
  candidates& repetition_penalty(std::span<const token> said, double penalty) {
    check(penalty > 0 && std::isfinite(penalty), "the penalty of repetitions is more than 0 and finite");
    if (penalty == 1) { return *this; }
    std::unordered_set<std::size_t> all;
    for (const token w : said) { all.insert(w.value); }
    for (candidate& c : all_) {
      if (all.contains(c.which.value)) { c.logit = c.logit > 0 ? c.logit / penalty : c.logit * penalty; }
    }
    sorted_ = false;
    return *this;
  }
  /// Below 1 the likely become likelier; 0 leaves the likeliest alone.
  candidates& temperature(double t) {
    check(t >= 0, "the temperature is 0 or more");
    if (t == 0) {
      const candidate best = likeliest();
      all_.assign(1, best);
    } else {
      for (candidate& c : all_) { c.logit /= t; }
    }
    return *this;
  }

  /// Throws `number_error` for a number below 0 and for NaN.
  static void check_probability(double p, const char* what) {
    if (!(p >= 0)) { dimwise::detail::raise<number_error>(error{} << "sampling: " << what << " is 0 or more"); }
  }
  /// The first of the likeliest.
  [[nodiscard]] candidate likeliest() const { return *std::min_element(all_.begin(), all_.end(), likelier); }
  /// Those that are left, the likeliest first.
  [[nodiscard]] std::span<const candidate> left() {
    sort();
    return all_;
  }
  /// Softmax of the logits that are left, the likeliest first. Throws `number_error` where one is NaN, or the largest
  /// is infinite.
  [[nodiscard]] std::vector<double> probabilities() {
    sort();
    std::vector<double> each;
    each.reserve(all_.size());
    double sum = 0;
    for (const candidate& c : all_) {
      each.push_back(std::exp(c.logit - all_.front().logit));
      sum += each.back();
    }
    check(std::isfinite(sum), "there are no probabilities: a logit is NaN, or the largest is infinite");
    for (double& p : each) { p /= sum; }
    return each;
  }
  /// One of those left, by their probabilities.
  [[nodiscard]] token draw(nn::random& numbers) {
    const std::vector<double> each = probabilities();
    double left_over = numbers.uniform();
    std::size_t i = 0;
    while (i + 1 < each.size() && (left_over -= each[i]) >= 0) { ++i; }
    while (i > 0 && each[i] == 0) { --i; }  // roundings lead beyond the last one that is possible
    return all_[i].which;
  }

 private:
  static void check(bool holds, const char* what) {
    if (!holds) { dimwise::detail::raise<number_error>(error{} << "sampling: " << what); }
  }
  // Of equal ones the smaller id, so that the order does not depend on the library. NaN, which infinite logits can
  // become, comes last.
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
  bool sorted_ = false;
};

/// How a token is drawn. Temperature 0 takes the likeliest. Numbers below 0 and NaN are refused (`number_error`).
struct sampling {
  double temperature = 0.8;
  std::size_t top_k = 40;
  double top_p = 0.95;
  double min_p = 0.05;
  double repetition_penalty = 1;
  std::size_t penalised = 64;  ///< how many of the last tokens are penalised
};

/// A token behind `said`, drawn from its logits.
template <class Vocab>
[[nodiscard]] id<Vocab> sample(const tensor<float, Vocab>& logits, const sampling& how,
                               std::span<const std::type_identity_t<id<Vocab>>> said, nn::random& numbers) {
  candidates<Vocab> c(logits);
  c.repetition_penalty(said.last(std::min(how.penalised, said.size())), how.repetition_penalty);
  if (how.temperature == 0) {  // the likeliest is left by top_p and min_p, whose numbers are checked all the same
    candidates<Vocab>::check_probability(how.top_p, "top_p");
    candidates<Vocab>::check_probability(how.min_p, "min_p");
    return c.likeliest().which;
  }
  c.top_k(how.top_k).top_p(how.top_p).min_p(how.min_p).temperature(how.temperature);
  return c.draw(numbers);
}

}  // namespace dimwise::models

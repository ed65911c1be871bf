// tests/kernels/rows/cross_entropy.test.cpp -- cross_entropy.hpp against the formula in long double.
//
// SPDX-License-Identifier: BSL-1.0
#include <dimwise/kernels/rows/cross_entropy.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

namespace {

using namespace dimwise::kernels;
constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

template <class T>
void run(const cross_entropy_call_of<T>& call) {
  cross_entropy<std::conditional_t<std::is_same_v<T, double>, in_double<default_arch>, default_arch>>(call);
}

template <class T>
struct problem {
  using exact = long double;
  static constexpr exact unit = exact{std::numeric_limits<T>::epsilon()} / 2;

  std::size_t rows;
  std::size_t n;
  std::vector<T> logits, targets, weight, factor, loss, d_logits;
  std::vector<std::size_t> ids;
  cross_entropy_call_of<T> call;

  problem(std::size_t r, std::size_t classes, unsigned seed, T size = 3)
      : rows(r), n(classes), logits(r * classes), loss(r, not_a_number), d_logits(r * classes, not_a_number), ids(r) {
    std::mt19937 random(seed);
    std::normal_distribution<T> normal(0, size);
    std::uniform_real_distribution<T> even(T(0.1), T(2));
    for (T& x : logits) x = normal(random);
    for (std::size_t& i : ids) i = random() % classes;
    for (std::size_t c = 0; c < classes; ++c) weight.push_back(even(random));
    for (std::size_t i = 0; i < rows; ++i) {
      factor.push_back(even(random));
      T sum = 0;
      for (std::size_t c = 0; c < classes; ++c) targets.push_back(even(random));
      for (std::size_t c = 0; c < classes; ++c) sum += targets[i * classes + c];
      for (std::size_t c = 0; c < classes; ++c) targets[i * classes + c] /= sum;
    }
    call.rows = rows;
    call.n = n;
    call.logits = logits.data();
    call.ids = ids.data();
    call.loss = loss.data();
    call.d_logits = d_logits.data();
    call.logits_row = call.targets_row = call.d_logits_row = static_cast<std::ptrdiff_t>(n);
  }
  problem(const problem&) = delete;
  problem& operator=(const problem&) = delete;

  /// The largest errors of losses and gradients, in units of what rounding may do.
  exact worst() const {
    exact largest = 0;
    for (std::size_t r = 0; r < rows; ++r) {
      const T* const x = logits.data() + r * n;
      exact top = -infinity;
      for (std::size_t c = 0; c < n; ++c) top = std::max(top, exact{x[c]});
      exact sum = 0;
      for (std::size_t c = 0; c < n; ++c) sum += std::exp(x[c] - top);
      const exact lse = top + std::log(sum);
      exact truth = 0;
      exact size = 0;
      exact total = 0;
      std::vector<exact> share(n);
      for (std::size_t c = 0; c < n; ++c) {
        const exact target = call.targets != nullptr ? exact{targets[r * n + c]}
                                                     : (c == ids[r] ? 1.0 - exact{call.smoothing} : 0.0) +
                                                           exact{call.smoothing} / static_cast<exact>(n);
        share[c] = target * (call.class_weight == nullptr ? 1.0 : exact{weight[c]});
        total += share[c];
        if (share[c] == 0) continue;
        truth += share[c] * (lse - x[c]);
        size += share[c] * (std::abs(top - lse) + std::abs(x[c] - top));
      }
      largest = std::max(largest, std::abs(loss[r] - truth) / (4 * unit * (size + total)));
      const exact by = call.factor == nullptr ? 1.0 : exact{factor[r]};
      for (std::size_t c = 0; c < n; ++c) {
        const exact p = std::exp(x[c] - lse);
        const exact error = std::abs(d_logits[r * n + c] - by * (p * total - share[c]));
        largest = std::max(largest, error / (4 * unit * by * (p * total * (2 + top - x[c]) + share[c]) + 1e-30));
      }
    }
    return largest;
  }
};

TEST_CASE_TEMPLATE("cross-entropy: losses and gradients, ids and distributions, smoothing, weights", T, float, double) {
  for (const std::size_t n : {1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 64, 100, 257, 1000}) {
    for (int kind = 0; kind < 12; ++kind) {
      CAPTURE(n);
      CAPTURE(kind);
      problem<T> p(5, n, 1);
      if (kind % 3 == 1) p.call.smoothing = T(0.1);
      if (kind % 3 == 2) {
        p.call.targets = p.targets.data();
        p.call.ids = nullptr;
      }
      if (kind / 3 % 2 == 1) p.call.class_weight = p.weight.data();
      if (kind / 6 == 1) p.call.factor = p.factor.data();
      run(p.call);
      CHECK(p.worst() <= 2.0);
      // Each alone, and the gradient in the place of the logits.
      const auto loss = p.loss;
      const auto d_logits = p.d_logits;
      p.call.d_logits = nullptr;
      std::fill(p.loss.begin(), p.loss.end(), T(0));
      run(p.call);
      CHECK(p.loss == loss);
      p.call.d_logits = p.logits.data();
      p.call.loss = nullptr;
      run(p.call);
      CHECK(p.logits == d_logits);
    }
  }
}

TEST_CASE_TEMPLATE("cross-entropy: large logits, and classes that are hidden", T, float, double) {
  problem<T> large(4, 50, 2, T(1000));
  run(large.call);
  CHECK(large.worst() <= 2.0);
  problem<T> hidden(4, 50, 3);
  for (std::size_t r = 0; r < 4; ++r) hidden.logits[r * 50 + (hidden.ids[r] + 1) % 50] = -infinity;
  run(hidden.call);
  for (std::size_t r = 0; r < 4; ++r) {
    CHECK(std::isfinite(hidden.loss[r]));
    CHECK(hidden.d_logits[r * 50 + (hidden.ids[r] + 1) % 50] == T(0));
  }
  CHECK(hidden.worst() <= 2.0);
}

TEST_CASE_TEMPLATE("cross-entropy: rows that are not counted, and a factor of 0, give exactly 0", T, float, double) {
  problem<T> p(4, 20, 4);
  const bool counted[4] = {true, false, true, false};
  p.call.counted = &counted[0];
  p.ids[1] = 1000000;  // never read
  p.logits[20 + 5] = not_a_number;
  p.factor[2] = 0;
  p.call.factor = p.factor.data();
  run(p.call);
  CHECK(p.loss[0] > T(0));
  CHECK(p.loss[2] > T(0));
  for (const std::size_t r : {std::size_t{1}, std::size_t{2}, std::size_t{3}}) {
    for (std::size_t c = 0; c < 20; ++c) CHECK(p.d_logits[r * 20 + c] == T(0));
  }
  CHECK(p.loss[1] == T(0));
  CHECK(p.loss[3] == T(0));
  CHECK(p.d_logits[0] != T(0));
}

TEST_CASE_TEMPLATE("cross-entropy: NaN spoils its own row", T, float, double) {
  problem<T> p(2, 40, 5);
  p.logits[7] = not_a_number;
  run(p.call);
  CHECK(std::isnan(p.loss[0]));
  CHECK(std::isnan(p.d_logits[3]));
  CHECK(std::isfinite(p.loss[1]));
}

}  // namespace

// dimwise/kernels/rows/cross_entropy.hpp -- the cross-entropy of logits against ids or distributions, and its gradient.
//
// Layer: kernels. Includes: rows/forward.hpp, gradient_table.hpp.
// Tests: tests/kernels/rows/cross_entropy.test.cpp
//
//   loss = Σ t_c w_c (lse - x_c)      d_x = factor (softmax(x) Σ t_c w_c - t w)
//
// t is the target: a distribution, or (1 - s) at the id and s / n everywhere (label smoothing s). w are class weights.
// A class with weight 0 is skipped, so that a logit of -inf there adds nothing. Probabilities are not stored: a row is
// read for its maximum, for its sums, and written, and stays cache-resident.
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/kernels/dispatch/configuration.hpp>
#include <dimwise/kernels/dispatch/gradient_table.hpp>
#include <dimwise/kernels/rows/forward.hpp>

#include <cstddef>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION {

namespace detail {

// Target times class weight of a range of classes, without the share of the id itself.
template <class Arch>
struct target_of_classes {
  const element_of<Arch>* target;  // a distribution, or null: `even` for each class
  const element_of<Arch>* weight;  // or null: 1
  element_of<Arch> even;

  [[nodiscard, gnu::always_inline]] floats<Arch> operator()(std::size_t i, std::size_t count) const noexcept {
    floats<Arch> t = target == nullptr ? broadcast<Arch>(even) : load_some<Arch>(target + i, count);
    if (weight != nullptr) t = t * load_some<Arch>(weight + i, count);
    return count == lanes<Arch> ? t : select<Arch>(first_lanes<Arch>(count), t, broadcast<Arch>(0));
  }
};

template <class Arch>
struct cross_entropy_sums {
  element_of<Arch> exponentials;  // of x - largest
  element_of<Arch> targets;       // of t w
  element_of<Arch> products;      // of t w (largest - x)
};

// The sums as registers, for the classes from `begin` to `end`.
template <class Arch>
struct cross_entropy_lanes {
  floats<Arch> exponentials;
  floats<Arch> targets;
  floats<Arch> products;
};
template <class Arch, bool Spread>
[[nodiscard, gnu::always_inline]] inline cross_entropy_lanes<Arch> sum_classes(
    std::size_t begin, std::size_t end, const element_of<Arch>* x, element_of<Arch> largest,
    const target_of_classes<Arch>& t) noexcept {
  using vec = floats<Arch>;
  const vec top = broadcast<Arch>(largest);
  const vec zero = broadcast<Arch>(0);
  vec exponentials[2] = {zero, zero};
  vec targets = zero;
  vec products = zero;
  std::size_t which = 0;
  for_columns<Arch>(end - begin, [&](std::size_t at, std::size_t count) __attribute__((always_inline)) {
    const std::size_t i = begin + at;
    const vec below = load_some<Arch>(x + i, count) - top;
    const vec e = exp_nonpositive<Arch>(below);
    exponentials[which] =
        exponentials[which] + (count == lanes<Arch> ? e : select<Arch>(first_lanes<Arch>(count), e, zero));
    which = 1 - which;
    if constexpr (Spread) {
      const vec share = t(i, count);
      targets = targets + share;
      products = products - select<Arch>(share == zero, zero, share * below);
    }
  });
  return {exponentials[0] + exponentials[1], targets, products};
}

inline constexpr std::size_t sum_block_registers = 64;  // registers that each sum adds without a carry

// The same for several blocks of classes, with carried sums; the blocks depend on n alone.
template <class Arch, bool Spread>
[[nodiscard, gnu::noinline]] cross_entropy_lanes<Arch> sum_many_classes(std::size_t n, std::size_t most,
                                                                        const element_of<Arch>* x,
                                                                        element_of<Arch> largest,
                                                                        target_of_classes<Arch> t) noexcept {
  carried_sum<floats<Arch>> exponentials;
  carried_sum<floats<Arch>> targets;
  carried_sum<floats<Arch>> products;
  for (std::size_t begin = 0; begin < n; begin += most) {
    const std::size_t end = n - begin < most ? n : begin + most;
    const auto block = sum_classes<Arch, Spread>(begin, end, x, largest, t);
    exponentials += block.exponentials;
    if constexpr (Spread) {
      targets += block.targets;
      products += block.products;
    }
  }
  return {exponentials.value(), targets.value(), products.value()};
}
template <class Arch, bool Spread>
[[nodiscard, gnu::noinline]] cross_entropy_sums<Arch> sum_cross_entropy(std::size_t n, const element_of<Arch>* x,
                                                                        element_of<Arch> largest,
                                                                        const target_of_classes<Arch>& t) noexcept {
  constexpr std::size_t most = sum_block_registers * lanes<Arch>;
  const cross_entropy_lanes<Arch> all = n > most ? sum_many_classes<Arch, Spread>(n, most, x, largest, t)
                                                 : sum_classes<Arch, Spread>(0, n, x, largest, t);
  return {reduce_sum<Arch>(all.exponentials), reduce_sum<Arch>(all.targets), reduce_sum<Arch>(all.products)};
}

template <class Arch>
[[gnu::noinline]] void cross_entropy_row(const cross_entropy_call_of<element_of<Arch>>& c, const element_of<Arch>* x,
                                         std::size_t id, const element_of<Arch>* target, element_of<Arch> factor,
                                         element_of<Arch>* loss, element_of<Arch>* d_x) noexcept {
  using vec = floats<Arch>;
  const element_of<Arch> largest = max_row<Arch>(c.n, x);
  const bool by_id = target == nullptr;
  const element_of<Arch> even = by_id ? c.smoothing / static_cast<element_of<Arch>>(c.n) : 0;
  const bool spread = !by_id || even != 0;
  const target_of_classes<Arch> t{target, c.class_weight, even};
  const auto sums =
      spread ? sum_cross_entropy<Arch, true>(c.n, x, largest, t) : sum_cross_entropy<Arch, false>(c.n, x, largest, t);
  // The share of the id itself.
  const element_of<Arch> own = by_id ? (1 - c.smoothing) * (c.class_weight == nullptr ? 1 : c.class_weight[id]) : 0;
  const element_of<Arch> targets = sums.targets + own;
  // A target with weight 0 skips its row for any logits.
  if (targets == 0) factor = 0;
  // `id` is read before d_x, which may be x.
  if (loss != nullptr) {
    const element_of<Arch> log_sum = log_of{}(broadcast<Arch>(sums.exponentials)).get(0);
    *loss = (targets == 0 ? 0 : targets * log_sum) + sums.products + (own == 0 ? 0 : own * (largest - x[id]));
  }
  if (d_x == nullptr) return;
  if (factor == 0) {
    map_floats<Arch>(c.n, x, d_x, [](const vec&) { return broadcast<Arch>(0); });
    return;
  }
  const vec top = broadcast<Arch>(largest);
  const vec by = broadcast<Arch>(factor * targets / sums.exponentials);
  const vec minus = broadcast<Arch>(-factor);
  const element_of<Arch> at_id = by_id ? exp_nonpositive<Arch>(broadcast<Arch>(x[id] - largest)).get(0) : 0;
  for_columns<Arch>(c.n, [&](std::size_t i, std::size_t count) __attribute__((always_inline)) {
    vec d = exp_nonpositive<Arch>(load_some<Arch>(x + i, count) - top) * by;
    if (spread) d = fma<Arch>(minus, t(i, count), d);
    store_some<Arch>(d_x + i, count, d);
  });
  if (by_id) {
    const element_of<Arch> even_share = even * (c.class_weight == nullptr ? 1 : c.class_weight[id]);
    // Adds both parts before the factor: a probability near 1 loses no digits.
    d_x[id] = factor * (at_id * (targets / sums.exponentials) - (own + even_share));
  }
}

}  // namespace detail

/// The losses of all rows, their gradients, or both. Rows that are not counted get exactly 0 for any logits.
template <class Arch = default_arch>
void cross_entropy(const cross_entropy_call_of<element_of<Arch>>& c) noexcept {
  for (std::size_t r = 0; r < c.rows; ++r) {
    const auto row = static_cast<std::ptrdiff_t>(r);
    element_of<Arch>* const loss = c.loss == nullptr ? nullptr : c.loss + row * c.loss_step;
    element_of<Arch>* const d_x = c.d_logits == nullptr ? nullptr : c.d_logits + row * c.d_logits_row;
    if (c.counted != nullptr && !c.counted[row * c.counted_step]) {
      if (loss != nullptr) *loss = 0;
      for (std::size_t i = 0; d_x != nullptr && i < c.n; ++i) d_x[i] = 0;
      continue;
    }
    detail::cross_entropy_row<Arch>(c, c.logits + row * c.logits_row, c.ids == nullptr ? 0 : c.ids[row * c.id_step],
                                    c.targets == nullptr ? nullptr : c.targets + row * c.targets_row,
                                    c.factor == nullptr ? 1 : c.factor[row * c.factor_step], loss, d_x);
  }
}

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION

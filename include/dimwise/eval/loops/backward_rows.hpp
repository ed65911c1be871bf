// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/loops/backward_rows.hpp -- the reference loops of the backward pass of rows and reductions.
//
// Layer: eval. Each row function has its formula beside it; y is the result of a row, g the gradient of y.
// Tests: tests/grad/operations/rows.test.cpp
#pragma once

#include <dimwise/eval/loops/rows.hpp>
#include <dimwise/expr/elements/derivative.hpp>
#include <dimwise/support/math.hpp>

#include <cstdint>
#include <vector>

namespace dimwise::detail {

// ---- rows -----------------------------------------------------------------------------------------------------------

// A row of three pointers: what is written, g, and the row as it was or became.
using back_row = kernels::loop_nest<3>;
template <class F>
void each_in_row(const back_row& row, const F& f) {
  kernels::for_each_row(row, [&](const std::ptrdiff_t(&o)[3], std::size_t count, const std::ptrdiff_t(&s)[3]) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto j = static_cast<std::ptrdiff_t>(i);
      f(o[0] + j * s[0], o[1] + j * s[1], o[2] + j * s[2]);
    }
  });
}

// All that multiplies is fn::sent: a row that was discarded, whose g is 0 and which may be NaN, sends 0.

// p(g − Σ p g). Where p is 0 it is hidden: g does not count, and −0 is sent, which later products leave out.
template <class C>
void row_back(rows::softmax, const back_row& row, C* to, const C* g, const C* p, C) {
  kernels::carried_sum<C> all;
  each_in_row(row, [&](auto, auto i, auto j) {
    if (p[j] != C(0)) { all += fn::sent_times(g[i], p[j]); }
  });
  const C sum = all.value();
  each_in_row(row, [&](auto t, auto i, auto j) { to[t] = p[j] == C(0) ? C(-0.0) : fn::sent_times(g[i] - sum, p[j]); });
}
// g − exp(y) Σ g
template <class C>
void row_back(rows::log_softmax, const back_row& row, C* to, const C* g, const C* y, C) {
  kernels::carried_sum<C> all;
  each_in_row(row, [&](auto, auto i, auto j) {
    if (y[j] != kernels::minus_infinity<C>) { all += g[i]; }
  });
  const C sum = all.value();
  each_in_row(row, [&](auto t, auto i, auto j) {
    to[t] = y[j] == kernels::minus_infinity<C> ? C(0) : g[i] - fn::sent_times(sum, math::exp(y[j]));
  });
}
// (g − Σ g x / Σ x) / Σ x; a row of sum 0 stays 0.
template <class C>
void row_back(rows::renormalise, const back_row& row, C* to, const C* g, const C* x, C) {
  kernels::carried_sum<C> all;
  kernels::carried_sum<C> products;
  each_in_row(row, [&](auto, auto i, auto j) {
    all += x[j];
    products += fn::sent_times(g[i], x[j]);
  });
  const C total = all.value();
  const fn::sent<fn::divide> divided;
  const C each = divided(products.value(), total);
  each_in_row(row, [&](auto t, auto i, auto) { to[t] = total == C(0) ? C(0) : divided(g[i] - each, total); });
}
// (g − mean g − y mean(g y)) / √(variance + ε)
template <class C>
void row_back(rows::standardize, const back_row& row, C* to, const C* g, const C* x, C epsilon) {
  const C count = static_cast<C>(row.size());
  kernels::carried_sum<C> all;
  each_in_row(row, [&](auto, auto, auto j) { all += x[j]; });
  const C mean = all.value() / count;
  kernels::carried_sum<C> variance;
  kernels::carried_sum<C> sums;
  kernels::carried_sum<C> product;
  each_in_row(row, [&](auto, auto i, auto j) {
    const C d = x[j] - mean;
    variance += d * d;
    sums += g[i];
    product += fn::sent_times(g[i], d);
  });
  const C scale = C(1) / math::sqrt(variance.value() / count + epsilon);
  const C sum = sums.value();
  const C along = fn::sent_times(product.value() / count, scale * scale);
  each_in_row(row, [&](auto t, auto i, auto j) {
    to[t] = fn::sent_times(g[i] - sum / count - fn::sent_times(along, x[j] - mean), scale);
  });
}
// (g − y mean(g y)) / √(mean x² + ε)
template <class C>
void row_back(rows::root_mean_square, const back_row& row, C* to, const C* g, const C* x, C epsilon) {
  const C count = static_cast<C>(row.size());
  kernels::carried_sum<C> squares;
  kernels::carried_sum<C> product;
  each_in_row(row, [&](auto, auto i, auto j) {
    squares += x[j] * x[j];
    product += fn::sent_times(g[i], x[j]);
  });
  const C scale = C(1) / math::sqrt(squares.value() / count + epsilon);
  const C along = fn::sent_times(product.value() / count, scale * scale);
  each_in_row(row, [&](auto t, auto i, auto j) { to[t] = fn::sent_times(g[i] - fn::sent_times(along, x[j]), scale); });
}
// Cumulative sums from the end: the rest of a whole sum would lose the digits of small numbers, and be NaN after an
// infinity. They are carried, as those of the forward pass are.
template <class C>
void row_back(rows::cumsum, const back_row& row, C* to, const C* g, const C*, C) {
  std::vector<C> sums;
  each_in_row(row, [&](auto, auto i, auto) { sums.push_back(g[i]); });
  kernels::carried_sum<C> total;
  for (std::size_t i = sums.size(); i-- > 0;) {
    total += sums[i];
    sums[i] = total.value();
  }
  const C* next = sums.data();
  each_in_row(row, [&](auto t, auto, auto) { to[t] = *next++; });
}

// The product of what precedes x_i, times S_i = g_i + x_{i+1} S_{i+1}: no division, so zeros need no care.
template <class C>
void row_back(rows::cumprod, const back_row& row, C* to, const C* g, const C* x, C) {
  std::vector<C> factors;
  std::vector<C> sums;
  each_in_row(row, [&](auto, auto i, auto j) {
    factors.push_back(x[j]);
    sums.push_back(g[i]);
  });
  for (std::size_t i = sums.size(); i-- > 1;) { sums[i - 1] += fn::sent_times(sums[i], factors[i]); }
  C before = 1;
  std::size_t next = 0;
  each_in_row(row, [&](auto t, auto, auto) {
    to[t] = fn::sent_times(sums[next], before);
    before *= factors[next++];
  });
}

// Each g to the element that was put in its place.
template <bool Descending, class C>
void row_back(rows::sort<Descending>, const back_row& row, C* to, const C* g, const C* x, C) {
  std::vector<std::uint64_t> keys;
  std::vector<C> gradients;
  each_in_row(row, [&](auto, auto i, auto j) {
    keys.push_back(sort_key_of<Descending>(x[j]));
    gradients.push_back(g[i]);
  });
  std::vector<std::size_t> order(keys.size());
  sort_order(keys.data(), keys.size(), keys.size(), order.data());
  std::vector<C> sent(keys.size());
  for (std::size_t i = 0; i < order.size(); ++i) { sent[order[i]] = gradients[i]; }
  const C* next = sent.data();
  each_in_row(row, [&](auto t, auto, auto) { to[t] = *next++; });
}

// The loops outside a row and inside it, of a gradient and of its two operands.
struct back_loops {
  back_row outside;
  back_row inside;
};
template <class How, class T>
void row_back_by_row(const back_loops& all, T* to, const T* g, const T* x, T epsilon) {
  if (all.inside.empty()) { return; }
  each_in_row(all.outside, [&](auto t, auto i, auto j) { row_back(How{}, all.inside, to + t, g + i, x + j, epsilon); });
}
// ---- totals ---------------------------------------------------------------------------------------------------------

// The gradient of the elements of which `g` is the total's.
template <bool Masked, class How, class C>
void total_row_back(const back_row& row, C* to, C g, const C* x) {
  const auto hidden = [](C value) { return Masked && value == kernels::minus_infinity<C>; };
  constexpr bool least = std::is_same_v<How, totals::min>;
  C count = 0;
  C best = 0;
  bool any = false;
  each_in_row(row, [&](auto, auto, auto j) {
    if (hidden(x[j])) { return; }
    if (!any || (least ? x[j] < best : x[j] > best)) { best = x[j]; }
    any = true;
    count += C(1);
  });
  if constexpr (std::is_same_v<How, totals::sum> || std::is_same_v<How, totals::mean>) {
    const C each = std::is_same_v<How, totals::sum> || count == C(0) ? g : g / count;
    each_in_row(row, [&](auto t, auto, auto j) { to[t] = hidden(x[j]) ? C(0) : each; });
  } else if constexpr (std::is_same_v<How, totals::norm>) {  // g x / ‖x‖, and 0 where the norm is 0
    const auto length = length_of<C>([&](auto&& each) {
      each_in_row(row, [&](auto, auto, auto j) {
        if (!hidden(x[j])) { each(x[j], std::size_t{0}); }
      });
    });
    each_in_row(row, [&](auto t, auto, auto j) {
      to[t] = hidden(x[j]) || length.root == C(0) ? C(0) : fn::sent_times(g, x[j] * length.scale / length.root);
    });
  } else if constexpr (std::is_same_v<How, totals::prod>) {  // g times the product of the others, before and after
    std::vector<C> factors;
    each_in_row(row, [&](auto, auto, auto j) { factors.push_back(hidden(x[j]) ? C(1) : x[j]); });
    C before = 1;
    std::vector<C> others(factors.size());
    for (std::size_t i = 0; i < factors.size(); before *= factors[i++]) { others[i] = before; }
    C after = 1;
    for (std::size_t i = factors.size(); i-- > 0; after *= factors[i]) { others[i] *= after; }
    const C* next = others.data();
    each_in_row(row, [&](auto t, auto, auto j) {
      to[t] = hidden(x[j]) ? C(0) : fn::sent_times(g, *next);
      ++next;
    });
  } else if constexpr (std::is_same_v<How, totals::max> || least) {  // the first of the largest or smallest
    bool found = false;
    each_in_row(row, [&](auto t, auto, auto j) {
      const bool here = any && !found && !hidden(x[j]) && x[j] == best;
      found = found || here;
      to[t] = here ? g : C(0);
    });
  } else {
    static_assert(is_handled<How>, "dimwise: this reduction has no gradient loop (total_row_back)");
  }
}
}  // namespace dimwise::detail

// tests/kernels/attention/reference.hpp -- attention as the formula reads, in double, and for kernels of double in long
// double: what the kernels are held against.
//
// Errors are measured in the unit R = |got - truth| / (u (4 + 2 L) sum_j p_j |v_j|), with u = 2^-24 (double: 2^-53) and
// L the largest sum |q k| * |scale| of the row (plus what bias adds): what rounding alone may do to an honest
// attention.
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/kernels/attention/types.hpp>

#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

namespace reference {

using dimwise::kernels::attention_head;
using dimwise::kernels::attention_head_of;
using dimwise::kernels::attention_layout;
using dimwise::kernels::attention_layout_of;
using dimwise::kernels::key_window;

inline constexpr float infinity = std::numeric_limits<float>::infinity();
inline constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

/// A random integer from `low` to `high`.
struct picker {
  std::mt19937& random;
  std::size_t operator()(std::size_t low, std::size_t high) const {
    return std::uniform_int_distribution<std::size_t>(low, high)(random);
  }
};

/// A random window of one of the four kinds: all keys, causal, keys before the query, keys on both sides.
inline key_window random_window(std::size_t kind, std::ptrdiff_t offset, const picker& pick) {
  const auto up_to = [&](std::size_t most) { return static_cast<std::ptrdiff_t>(pick(0, most)); };
  if (kind == 1) return key_window::causal(offset);
  if (kind == 2) return {up_to(200), 0, offset};
  if (kind == 3) return {up_to(99), up_to(99), offset};
  return {};
}

/// What a kernel of T is compared in.
template <class T>
using exact = std::conditional_t<std::is_same_v<T, float>, double, long double>;

/// Scores to scores, with the indices of query and key.
using score_function = std::function<double(double, std::ptrdiff_t, std::ptrdiff_t)>;

/// Contiguous rows of these extents, and the scale of their scores.
template <class T = float>
attention_layout_of<T> extents(std::size_t queries, std::size_t keys, std::size_t head_dim, std::size_t value_dim) {
  attention_layout_of<T> layout;
  layout.queries = queries;
  layout.keys = keys;
  layout.head_dim = head_dim;
  layout.value_dim = value_dim;
  layout.scale = head_dim == 0 ? T{1} : T{1} / std::sqrt(static_cast<T>(head_dim));
  return layout;
}

template <class E = double>
struct row_result_of {
  std::vector<E> out;
  std::vector<E> scale;     ///< the unit of error of each element
  std::vector<E> absolute;  ///< sum_j p_j |v_j|
  E lse = 0;
};
using row_result = row_result_of<>;

template <class T>
bool sees(const attention_layout_of<T>& layout, const attention_head_of<T>& head, std::ptrdiff_t i, std::ptrdiff_t j) {
  if (static_cast<std::size_t>(j) >= head.visible_keys) return false;
  const std::ptrdiff_t centre = i + layout.window.offset;
  if (j < centre - layout.window.before || j > centre + layout.window.after) return false;
  return head.allow == nullptr || head.allow[i * layout.allow_query + j * layout.allow_key];
}

template <class T>
row_result_of<exact<T>> attention_row(const attention_layout_of<T>& layout, const attention_head_of<T>& head,
                                      std::size_t query, const score_function& score = nullptr) {
  using E = exact<T>;
  const auto i = static_cast<std::ptrdiff_t>(query);
  const E none = -std::numeric_limits<E>::infinity();
  std::vector<E> logit(layout.keys, none);
  E largest = none;
  E magnitude = 0.0;
  bool has_nan = false;
  for (std::size_t key = 0; key < layout.keys; ++key) {
    const auto j = static_cast<std::ptrdiff_t>(key);
    if (!sees(layout, head, i, j)) continue;
    E dot = 0.0;
    E absolute = 0.0;
    for (std::size_t feature = 0; feature < layout.head_dim; ++feature) {
      const auto c = static_cast<std::ptrdiff_t>(feature);
      const E product = E{head.q[i * layout.q_row + c * layout.q_feature]} *
                        E{head.k[j * layout.k_row + c * layout.k_feature]} * E{layout.scale};
      dot += product;
      absolute += std::abs(product);
    }
    if (score) dot = score(static_cast<double>(dot), i, j);
    if (head.bias != nullptr) {
      const E bias = head.bias[i * layout.bias_query + j * layout.bias_key];
      dot += bias;
      if (std::isfinite(bias)) absolute += std::abs(bias);
    }
    logit[key] = dot;
    if (std::isnan(dot)) has_nan = true;
    if (dot > largest) largest = dot;
    if (dot != none && absolute > magnitude) magnitude = absolute;
  }
  row_result_of<E> result;
  result.out.assign(layout.value_dim, 0.0);
  result.scale.assign(layout.value_dim, 0.0);
  result.absolute.assign(layout.value_dim, 0.0);
  if (has_nan) largest = std::numeric_limits<E>::quiet_NaN();
  if (largest == none) {
    result.lse = none;
    return result;
  }
  E sum = 0.0;
  for (const E l : logit) sum += l == none ? 0.0 : std::exp(l - largest);
  for (std::size_t key = 0; key < layout.keys; ++key) {
    if (logit[key] == none) continue;
    const E p = std::exp(logit[key] - largest) / sum;
    for (std::size_t feature = 0; feature < layout.value_dim; ++feature) {
      const E v = head.v[static_cast<std::ptrdiff_t>(key) * layout.v_row +
                         static_cast<std::ptrdiff_t>(feature) * layout.v_feature];
      result.out[feature] += p * v;
      result.scale[feature] += p * std::abs(v);
    }
  }
  const E unit = std::ldexp(E{1}, -std::numeric_limits<T>::digits) * (4.0 + 2.0 * magnitude);
  result.absolute = result.scale;
  for (E& s : result.scale) s *= unit;
  result.lse = largest + std::log(sum);
  return result;
}

/// Owned, filled memory for one head; everything the strides do not reach is NaN, so that reading it is noticed.
template <class T>
struct problem_of {
  attention_layout_of<T> layout;
  attention_head_of<T> head;
  std::vector<T> q, k, v, out, lse, bias;
  std::vector<char> allow;
};
using problem = problem_of<float>;

template <class T>
void fill(std::vector<T>& to, std::mt19937& random, T size) {
  std::normal_distribution<T> normal(0, size);
  for (T& x : to) x = normal(random);
}

/// q, k, v of the layout's extents with `gap` unused elements after each row; normal numbers of the given size.
template <class T>
problem_of<T> make_problem(attention_layout_of<T> layout, std::mt19937& random, std::size_t gap = 0,
                           std::type_identity_t<T> size = 1) {
  problem_of<T> made;
  const auto rows = [&](std::vector<T>& data, std::ptrdiff_t& stride, std::size_t count, std::size_t features) {
    std::vector<T> dense(count * features);
    fill(dense, random, size);
    stride = static_cast<std::ptrdiff_t>(features + gap);
    data.assign(count * (features + gap), std::numeric_limits<T>::quiet_NaN());
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t c = 0; c < features; ++c) data[i * (features + gap) + c] = dense[i * features + c];
    }
  };
  rows(made.q, layout.q_row, layout.queries, layout.head_dim);
  rows(made.k, layout.k_row, layout.keys, layout.head_dim);
  rows(made.v, layout.v_row, layout.keys, layout.value_dim);
  layout.out_row = static_cast<std::ptrdiff_t>(layout.value_dim + gap);
  made.out.assign(layout.queries * (layout.value_dim + gap), std::numeric_limits<T>::quiet_NaN());
  made.lse.assign(layout.queries, 0);
  made.layout = layout;
  made.head.q = made.q.data();
  made.head.k = made.k.data();
  made.head.v = made.v.data();
  made.head.out = made.out.data();
  made.head.lse = made.lse.data();
  return made;
}

/// Largest R over all elements, each R appended to `errors`; infinity if a NaN, an infinity or an exact 0 is misplaced.
template <class T>
double largest_error(const problem_of<T>& p, std::vector<double>* errors = nullptr,
                     const score_function& score = nullptr) {
  using E = exact<T>;
  // Rounding of log and of the largest score.
  constexpr E lse_error = std::is_same_v<T, float> ? 1.0e-5 : 1.0e-14;
  double worst = 0.0;
  for (std::size_t i = 0; i < p.layout.queries; ++i) {
    const auto truth = attention_row(p.layout, p.head, i, score);
    for (std::size_t c = 0; c < p.layout.value_dim; ++c) {
      const E got = p.head.out[static_cast<std::ptrdiff_t>(i) * p.layout.out_row +
                               static_cast<std::ptrdiff_t>(c) * p.layout.out_feature];
      double error = 0.0;
      if (!std::isfinite(truth.out[c])) {
        error = std::isfinite(got) ? std::numeric_limits<double>::infinity() : 0.0;
      } else if (got != truth.out[c]) {
        error = static_cast<double>(std::abs(got - truth.out[c]) / truth.scale[c]);
        if (std::isnan(error)) error = std::numeric_limits<double>::infinity();
      }
      if (errors != nullptr) errors->push_back(error);
      if (error > worst) worst = error;
    }
    if (p.head.lse != nullptr) {
      const E got = p.head.lse[static_cast<std::ptrdiff_t>(i) * p.layout.lse_query];
      const bool close = std::abs(got - truth.lse) <= lse_error * (1 + std::abs(truth.lse));
      if (!close && got != truth.lse && !(std::isnan(got) && std::isnan(truth.lse))) {
        worst = std::numeric_limits<double>::infinity();
      }
    }
  }
  return worst;
}

}  // namespace reference

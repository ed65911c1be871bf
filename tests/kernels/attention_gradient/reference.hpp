// tests/kernels/attention_gradient/reference.hpp -- the backward pass of attention as the formulas read, in double.
//
// An error is measured in units of what rounding may do: each sum Σ x y of n pairs may err by u (8 + 4 L) Σ |x y|, with
// u = 2^-24 and L the magnitude of the row's scores as in attention/reference.hpp: a weight errs by that much already.
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "kernels/attention/reference.hpp"
#include <dimwise/kernels/dispatch/gradient_table.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace reference {

using dimwise::kernels::attention_gradient_call;
using dimwise::kernels::attention_gradient_head;

/// A function of scores and its slope; both of (score, query, key).
struct shaped_score {
  score_function value;
  score_function slope;
};

/// Sums, and the unit of error of each.
struct sums {
  std::vector<double> value;
  std::vector<double> unit;
  explicit sums(std::size_t n = 0) : value(n, 0.0), unit(n, 0.0) {}
  void add(std::size_t at, double x, double size) {
    value[at] += x;
    unit[at] += size;
  }
};

/// Gradients of one head, rows contiguous.
struct head_gradients {
  sums q, k, v, bias;
};

inline head_gradients attention_gradient_of(const attention_gradient_call& call, std::size_t index,
                                            const shaped_score& shape = {}) {
  const attention_layout& l = call.forth.layout;
  const attention_head& head = call.forth.heads[index];
  const attention_gradient_head& g = call.gradients[index];
  const double none = -std::numeric_limits<double>::infinity();
  head_gradients to{sums(l.queries * l.head_dim), sums(l.keys * l.head_dim), sums(l.keys * l.value_dim),
                    sums(l.queries * l.keys)};
  const auto at = [](const float* data, std::size_t i, std::ptrdiff_t row, std::size_t c, std::ptrdiff_t feature) {
    return double{data[static_cast<std::ptrdiff_t>(i) * row + static_cast<std::ptrdiff_t>(c) * feature]};
  };
  for (std::size_t query = 0; query < l.queries; ++query) {
    const auto i = static_cast<std::ptrdiff_t>(query);
    std::vector<double> logit(l.keys, none);
    std::vector<double> slope(l.keys, 1.0);
    double largest = none;
    double magnitude = 0;
    for (std::size_t key = 0; key < l.keys; ++key) {
      const auto j = static_cast<std::ptrdiff_t>(key);
      if (!sees(l, head, i, j)) continue;
      if (head.bias != nullptr && head.bias[i * l.bias_query + j * l.bias_key] == none) continue;
      double dot = 0;
      double absolute = 0;
      for (std::size_t c = 0; c < l.head_dim; ++c) {
        const double product =
            at(head.q, query, l.q_row, c, l.q_feature) * at(head.k, key, l.k_row, c, l.k_feature) * double{l.scale};
        dot += product;
        absolute += std::abs(product);
      }
      if (shape.value) {
        slope[key] = shape.slope(dot, i, j);
        dot = shape.value(dot, i, j);
      }
      if (head.bias != nullptr) {
        const double bias = head.bias[i * l.bias_query + j * l.bias_key];
        dot += bias;
        if (std::isfinite(bias)) absolute += std::abs(bias);
      }
      logit[key] = dot;
      largest = std::max(largest, dot);
      if (dot != none) magnitude = std::max(magnitude, absolute);
    }
    if (largest == none) continue;
    double sum = 0;
    for (const double x : logit) sum += x == none ? 0.0 : std::exp(x - largest);
    const double unit = std::ldexp(1.0, -24) * (8.0 + 4.0 * magnitude);
    std::vector<double> weight(l.keys, 0.0);
    std::vector<double> d_weight(l.keys, 0.0);
    std::vector<double> d_size(l.keys, 0.0);
    double delta = g.d_lse == nullptr ? 0.0 : -double{g.d_lse[i * call.layout.d_lse_query]};
    double delta_size = std::abs(delta);
    for (std::size_t key = 0; key < l.keys; ++key) {
      if (logit[key] == none) continue;
      weight[key] = std::exp(logit[key] - largest) / sum;
      for (std::size_t c = 0; c < l.value_dim; ++c) {
        const double x = at(g.d_out, query, call.layout.d_out_row, c, call.layout.d_out_feature);
        const double y = at(head.v, key, l.v_row, c, l.v_feature);
        d_weight[key] += x * y;
        d_size[key] += std::abs(x * y);
        to.v.add(key * l.value_dim + c, weight[key] * x, unit * std::abs(weight[key] * x));
      }
      delta += weight[key] * d_weight[key];
      delta_size += weight[key] * d_size[key];
    }
    for (std::size_t key = 0; key < l.keys; ++key) {
      if (logit[key] == none) continue;
      const double d_logit = weight[key] * (d_weight[key] - delta);
      const double size = unit * weight[key] * (d_size[key] + delta_size);
      to.bias.add(query * l.keys + key, d_logit, size);
      for (std::size_t c = 0; c < l.head_dim; ++c) {
        const double k = at(head.k, key, l.k_row, c, l.k_feature) * l.scale * slope[key];
        const double q = at(head.q, query, l.q_row, c, l.q_feature) * l.scale * slope[key];
        to.q.add(query * l.head_dim + c, d_logit * k, size * std::abs(k));
        to.k.add(key * l.head_dim + c, d_logit * q, size * std::abs(q));
      }
    }
  }
  return to;
}

/// The largest error in its unit; infinity where a number that should be exactly 0, or finite, is not.
inline double worst_error(const sums& truth, const std::vector<float>& got) {
  double worst = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double x = got[i];
    if (!std::isfinite(truth.value[i])) {
      if (std::isfinite(x)) return std::numeric_limits<double>::infinity();
      continue;
    }
    if (x == truth.value[i]) continue;
    const double error = std::abs(x - truth.value[i]) / truth.unit[i];
    if (!(error <= worst)) worst = std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
  }
  return worst;
}

}  // namespace reference

// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/plain_positions.hpp -- the plain evaluator's part for positions and windows.
//
// Layer: eval. Included by eval/plain.hpp, which it completes.
// Tests: tests/expr/positions.test.cpp, tests/expr/window.test.cpp
#pragma once

#include <dimwise/eval/lower.hpp>
#include <dimwise/expr/positions.hpp>
#include <dimwise/expr/window.hpp>

namespace dimwise::detail {

template <class C, class N>
lowered<compute_t<C, value_of<N>>> lower(const N& n);
inline void write_documents(const segments& documents, std::size_t n, aligned_vector<std::size_t>& to);

template <class C, class Shape, class P, class F>
void compute(const sinusoid_node<Shape, P, F>& n, target<C> to) {
  const extent_t positions = n.extents().template extent<P>();
  const extent_t features = n.extents().template extent<F>();
  const std::ptrdiff_t origin = n.extents().template origin<P>("sinusoid");
  for (std::size_t f = 0; f < features; ++f) {
    // Angles in double: a float's 24 bits do not reach position 16384 at the first frequency.
    const double frequency = std::pow(n.base(), -static_cast<double>(f - f % 2) / static_cast<double>(features));
    for (std::size_t p = 0; p < positions; ++p) {
      const double angle = static_cast<double>(origin + static_cast<std::ptrdiff_t>(p)) * frequency;
      to.data[static_cast<std::ptrdiff_t>(p) * to.axes[0].stride + static_cast<std::ptrdiff_t>(f) * to.axes[1].stride] =
          static_cast<C>(f % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }
  }
}

// The position of every element of P: counted from the origin, in packed dimensions from each document's beginning.
template <class P, class Extents>
aligned_vector<std::ptrdiff_t> positions_of(const Extents& e, const char* operation) {
  const extent_t n = e.template extent<P>();
  aligned_vector<std::ptrdiff_t> position(n);
  const std::ptrdiff_t origin = e.template origin<P>(operation);
  for (std::size_t i = 0; i < n; ++i) { position[i] = origin + static_cast<std::ptrdiff_t>(i); }
  const segments& documents = e.template of_atom<P>().documents;
  std::size_t at = 0;
  for (const std::size_t length : documents) {
    for (std::size_t i = 0; i < length && at < n; ++i) { position[at++] = static_cast<std::ptrdiff_t>(i); }
  }
  return position;
}

template <class C, class Shape, class P, class F, class E>
void compute(const rotary_node<Shape, P, F, E>& n, target<C> to) {
  using axes = axes_for<Shape>;
  const auto x = lower<C>(n.inner());
  const extent_t features = n.extents().template extent<F>();
  const std::size_t pairs = features / 2;
  const auto position = positions_of<P>(n.extents(), "rotary");
  constexpr std::size_t p_axis = index_in<P, axes>;
  constexpr std::size_t f_axis = index_in<F, axes>;
  const bool split = n.options().pairs == rotary_pairs::half_split;
  // All other axes are walked for each position and pair, whose angle is computed once.
  axis rest[max_rank];
  axis_extents<axes>::write(n.extents(), rest);
  rest[p_axis].extent = 1;
  rest[f_axis].extent = 1;
  std::ptrdiff_t strides[2][max_rank] = {};
  for (std::size_t i = 0; i < axes::size; ++i) { strides[0][i] = to.axes[i].stride; }
  align<axes, axes_for<shape_of<E>>>(x.axes, strides[1]);
  const auto outside = nest_over(axes::size, rest, strides);
  for (std::size_t p = 0; p < position.size(); ++p) {
    for (std::size_t i = 0; i < pairs; ++i) {
      const double angle = static_cast<double>(position[p]) * std::pow(n.options().base, -2.0 * static_cast<double>(i) / static_cast<double>(features));
      const C c = static_cast<C>(std::cos(angle));
      const C s = static_cast<C>(std::sin(angle));
      const auto first = static_cast<std::ptrdiff_t>(split ? i : 2 * i);
      const auto second = static_cast<std::ptrdiff_t>(split ? i + pairs : 2 * i + 1);
      const auto row = static_cast<std::ptrdiff_t>(p);
      kernels::for_each_element(outside, [&](std::ptrdiff_t t, std::ptrdiff_t f) {
        C* out = to.data + t + row * to.axes[p_axis].stride;
        const C* in = x.data + f + row * strides[1][p_axis];
        const C a = in[first * strides[1][f_axis]];
        const C b = in[second * strides[1][f_axis]];
        out[first * to.axes[f_axis].stride] = a * c - b * s;
        out[second * to.axes[f_axis].stride] = b * c + a * s;
      });
    }
  }
}

// The slope of head h of n: 2^(−8(h+1)/n), interleaved with those of twice as many heads where n is no power of two.
[[nodiscard]] inline double alibi_slope(std::size_t h, std::size_t n) {
  std::size_t power = 1;
  while (power * 2 <= n) { power *= 2; }
  if (h < power) { return std::exp2(-8.0 * static_cast<double>(h + 1) / static_cast<double>(power)); }
  return std::exp2(-8.0 * static_cast<double>(2 * (h - power) + 1) / static_cast<double>(2 * power));
}

template <class B>
using bias_axes = axes_of_list_t<typename B::bias_facts::dims>;

template <class C, class B, class Extents>
lowered<C> bias_buffer(const Extents& e) {
  lowered<C> result;
  axis_extents<bias_axes<B>>::write(e, result.axes);
  result.buffer.resize(checked_product(result.axes, bias_axes<B>::size, sizeof(C)));
  make_contiguous(result.axes, bias_axes<B>::size);
  result.data = result.buffer.data();
  return result;
}

// Biases over [Q, K, rest]: the distance key − query is all that they depend on.
template <class C, class Q, class K, class H, class Extents>
lowered<C> lower_bias(const alibi<Q, K, H>& b, const Extents& e) {
  auto result = bias_buffer<C, alibi<Q, K, H>>(e);
  const std::ptrdiff_t distance = b.key_origin(e, "alibi") - b.query_origin(e, "alibi");
  C* to = result.buffer.data();
  const std::size_t heads = result.axes[2].extent;
  for (std::size_t q = 0; q < result.axes[0].extent; ++q) {
    for (std::size_t k = 0; k < result.axes[1].extent; ++k) {
      const std::ptrdiff_t d = distance + static_cast<std::ptrdiff_t>(k) - static_cast<std::ptrdiff_t>(q);
      for (std::size_t h = 0; h < heads; ++h) { *to++ = static_cast<C>(-alibi_slope(h, heads) * static_cast<double>(d < 0 ? -d : d)); }
    }
  }
  return result;
}
template <class C, class Q, class K, class R, class Table, class Bucket, class Extents>
lowered<C> lower_bias(const relative_bias_of<Q, K, R, Table, Bucket>& b, const Extents& e) {
  using bias = relative_bias_of<Q, K, R, Table, Bucket>;
  auto result = bias_buffer<C, bias>(e);
  const auto table = lower<C>(b.table());
  using table_axes = axes_for<shape_of<Table>>;
  const std::ptrdiff_t distance = b.key_origin(e, bias::name) - b.query_origin(e, bias::name);
  const axis relative = table.axes[index_in<R, table_axes>];
  std::ptrdiff_t strides[2][max_rank] = {};
  for (std::size_t i = 0; i < bias_axes<bias>::size; ++i) { strides[0][i] = result.axes[i].stride; }
  align<bias_axes<bias>, table_axes>(table.axes, strides[1]);
  axis rest[max_rank];
  for (std::size_t i = 0; i < bias_axes<bias>::size; ++i) { rest[i] = result.axes[i]; }
  rest[0].extent = 1;
  rest[1].extent = 1;
  const auto outside = nest_over(bias_axes<bias>::size, rest, strides);
  for (std::size_t q = 0; q < result.axes[0].extent; ++q) {
    for (std::size_t k = 0; k < result.axes[1].extent; ++k) {
      const std::size_t at = b.bucket()(distance + static_cast<std::ptrdiff_t>(k) - static_cast<std::ptrdiff_t>(q), relative.extent);
      if (at >= relative.extent) {
        raise<index_error>(error{} << "relative_bias: bucket " << at << " is outside dimension " << dimension_name<R>() << " of extent " << relative.extent);
      }
      const std::ptrdiff_t place = static_cast<std::ptrdiff_t>(q) * result.axes[0].stride + static_cast<std::ptrdiff_t>(k) * result.axes[1].stride;
      kernels::for_each_element(outside, [&](std::ptrdiff_t t, std::ptrdiff_t f) {
        result.buffer[static_cast<std::size_t>(place + t)] = table.data[f + static_cast<std::ptrdiff_t>(at) * relative.stride];
      });
    }
  }
  return result;
}

template <class C, class Shape, class Q, class R, class K, class E>
void compute(const skew_node<Shape, Q, R, K, E>& n, target<C> to) {
  using axes = axes_for<Shape>;
  using inner_axes = axes_for<shape_of<E>>;
  const auto x = lower<C>(n.inner());
  const axis relative = x.axes[index_in<R, inner_axes>];
  // Position of element r of R is r + its origin; it stands at key − query.
  const std::ptrdiff_t first = n.extents().template origin<K>("skew") - n.extents().template origin<Q>("skew") - n.inner().extents().template origin<R>("skew");
  constexpr std::size_t q_axis = index_in<Q, axes>;
  constexpr std::size_t k_axis = index_in<K, axes>;
  axis rest[max_rank];
  axis_extents<axes>::write(n.extents(), rest);
  const axis queries = rest[q_axis];
  const axis keys = rest[k_axis];
  rest[q_axis].extent = 1;
  rest[k_axis].extent = 1;
  std::ptrdiff_t strides[2][max_rank] = {};
  for (std::size_t i = 0; i < axes::size; ++i) { strides[0][i] = to.axes[i].stride; }
  align<axes, inner_axes>(x.axes, strides[1]);
  const auto outside = nest_over(axes::size, rest, strides);
  for (std::size_t q = 0; q < queries.extent; ++q) {
    for (std::size_t k = 0; k < keys.extent; ++k) {
      const std::ptrdiff_t r = first + static_cast<std::ptrdiff_t>(k) - static_cast<std::ptrdiff_t>(q);
      const bool there = r >= 0 && r < static_cast<std::ptrdiff_t>(relative.extent);
      const std::ptrdiff_t out = static_cast<std::ptrdiff_t>(q) * strides[0][q_axis] + static_cast<std::ptrdiff_t>(k) * strides[0][k_axis];
      const std::ptrdiff_t in = there ? static_cast<std::ptrdiff_t>(q) * strides[1][q_axis] + r * relative.stride : 0;
      kernels::for_each_element(outside, [&](std::ptrdiff_t t, std::ptrdiff_t f) { to.data[t + out] = there ? x.data[f + in] : C(0); });
    }
  }
}

}  // namespace dimwise::detail

// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/loops/positions.hpp -- the reference loops of what is made from positions: sinusoids, rotary, biases,
// skew.
//
// Layer: eval.
// Tests: tests/expr/positions/positions.test.cpp
#pragma once

#include <dimwise/eval/pass.hpp>
#include <dimwise/expr/positions/positions.hpp>
#include <dimwise/support/math.hpp>

namespace dimwise::detail {

template <class C, class Shape, class P, class F, class Lowered>
void loops(const sinusoid_node<Shape, P, F>& n, target<C> to, const Lowered&) {
  const extent_t positions = n.extents().template extent<P>();
  const extent_t features = n.extents().template extent<F>();
  const std::ptrdiff_t origin = n.extents().template first_position<P>("sinusoid");
  for (std::size_t f = 0; f < features; ++f) {
    // Angles in double: a float's 24 bits do not reach position 16384 at the first frequency.
    const double frequency = math::pow(n.op().base, -static_cast<double>(f - f % 2) / static_cast<double>(features));
    for (std::size_t p = 0; p < positions; ++p) {
      const double angle = static_cast<double>(origin + static_cast<std::ptrdiff_t>(p) * position_step<P>) * frequency;
      to.data[static_cast<std::ptrdiff_t>(p) * to.axes[0].stride + static_cast<std::ptrdiff_t>(f) * to.axes[1].stride] =
          static_cast<C>(f % 2 == 0 ? math::sin(angle) : math::cos(angle));
    }
  }
}

// The position of every element of P: counted from the origin, in packed dimensions from each document's beginning.
template <class P, class Extents>
aligned_vector<std::ptrdiff_t> positions_of(const Extents& e, const char* operation) {
  const extent_t n = e.template extent<P>();
  aligned_vector<std::ptrdiff_t> position(n);
  const std::ptrdiff_t origin = e.template first_position<P>(operation);
  for (std::size_t i = 0; i < n; ++i) { position[i] = origin + static_cast<std::ptrdiff_t>(i) * position_step<P>; }
  if constexpr (has_documents<P>) {
    std::size_t at = 0;
    for (const std::size_t length : e.template documents<P>()) {
      for (std::size_t i = 0; i < length && at < n; ++i) { position[at++] = static_cast<std::ptrdiff_t>(i); }
    }
  }
  return position;
}

// Cosines and sines of every pair, with their strides along the axes of what is turned.
template <class C>
struct angle_table {
  lowered<C> cosines;
  lowered<C> sines;
  std::ptrdiff_t strides[2][max_rank] = {};
  std::ptrdiff_t pair[2] = {1, 1};
  std::size_t pairs = 0;

  // A row of pairs for each position in memory order.
  template <class Position>
  void fill(std::size_t count, std::size_t features, const rotary_options& options, const Position& position) {
    pairs = features / 2;
    cosines.buffer.resize(count * pairs);
    sines.buffer.resize(count * pairs);
    const double factor = rotary_attention(options);
    for (std::size_t i = 0; i < pairs; ++i) {
      const double frequency = rotary_frequency(i, features, options);
      for (std::size_t p = 0; p < count; ++p) {
        const double angle = static_cast<double>(position(p)) * frequency;
        cosines.buffer[p * pairs + i] = static_cast<C>(factor * math::cos(angle));
        sines.buffer[p * pairs + i] = static_cast<C>(factor * math::sin(angle));
      }
    }
    cosines.data = cosines.buffer.data();
    sines.data = sines.buffer.data();
  }
  // Positions with these axes, row-major, each of which has a row of pairs.
  template <class Axes, class Positions>
  void align_rows(axis* positions) {
    make_contiguous(positions, Positions::size);
    for (std::size_t i = 0; i < Positions::size; ++i) { positions[i].stride = times(positions[i].stride, pairs); }
    align<Axes, Positions>(positions, strides[0]);
    align<Axes, Positions>(positions, strides[1]);
  }
};

template <class C, class P, class F, class N>
angle_table<C> angles_of(const N& n) {
  angle_table<C> table;
  const auto position = positions_of<P>(n.extents(), "rotary");
  table.fill(position.size(), turned_features<F>(n.extents().template extent<F>(), n.op().options.features),
             n.op().options, [&](std::size_t p) { return position[p]; });
  axis along[1] = {{position.size(), 1}};
  table.template align_rows<axes_for<shape_of<N>>, list<P>>(along);
  return table;
}
template <class C, class F, class Positions, class N, class T>
angle_table<C> angles_at(const N& n, lowered<T>& position) {
  angle_table<C> table;
  using axes = axes_for<shape_of<Positions>>;
  make_dense<T, axes>(position);
  table.fill(checked_size<axes>(position.axes, sizeof(C), "rotary"),
             turned_features<F>(n.extents().template extent<F>(), n.op().options.features), n.op().options,
             [&](std::size_t p) { return position.data[p]; });
  table.template align_rows<axes_for<shape_of<N>>, axes>(position.axes);
  return table;
}
template <class C, class Pairs, class Cosines, class Sines, class N>
angle_table<C> given_angles(const N& n, const lowered<C>& cosines, const lowered<C>& sines) {
  angle_table<C> table;
  using axes = axes_for<shape_of<N>>;
  table.pairs = n.op().options.features / 2;
  table.cosines.data = cosines.data;
  table.sines.data = sines.data;
  align<axes, axes_for<shape_of<Cosines>>>(cosines.axes, table.strides[0]);
  align<axes, axes_for<shape_of<Sines>>>(sines.axes, table.strides[1]);
  table.pair[0] = stride_of<Pairs, axes_for<shape_of<Cosines>>>(cosines);
  table.pair[1] = stride_of<Pairs, axes_for<shape_of<Sines>>>(sines);
  return table;
}

template <class C, class Shape, class P, class F, class Pairs, class E, class... Angles, class Lowered>
void loops(const rotary_node<Shape, P, F, Pairs, E, Angles...>& n, target<C> to, Lowered& in) {
  using axes = axes_for<Shape>;
  const auto& x = child_in<0>(in);
  const auto table = [&] {
    if constexpr (sizeof...(Angles) == 2) {
      return given_angles<C, Pairs, Angles...>(n, child_in<1>(in), child_in<2>(in));
    } else if constexpr (sizeof...(Angles) == 1) {
      return angles_at<C, F, Angles...>(n, child_in<1>(in));
    } else {
      return angles_of<C, P, F>(n);
    }
  }();
  const extent_t features = n.extents().template extent<F>();
  constexpr std::size_t f_axis = index_in<F, axes>;
  const bool split = n.op().options.pairs == rotary_pairs::half_split;
  axis rest[max_rank];
  axis_extents<axes>::write(n.extents(), rest);
  rest[f_axis].extent = 1;
  std::ptrdiff_t strides[4][max_rank] = {};
  for (std::size_t i = 0; i < axes::size; ++i) {
    strides[0][i] = to.axes[i].stride;
    strides[2][i] = table.strides[0][i];
    strides[3][i] = table.strides[1][i];
  }
  align<axes, axes_for<shape_of<E>>>(x.axes, strides[1]);
  const std::ptrdiff_t step_out = to.axes[f_axis].stride;
  const std::ptrdiff_t step_in = strides[1][f_axis];
  const auto turn = [&](C* out, const C* from, const C* cosines, const C* sines) {
    for (std::size_t i = 0; i < table.pairs; ++i) {
      const C c = cosines[static_cast<std::ptrdiff_t>(i) * table.pair[0]];
      const C sine = sines[static_cast<std::ptrdiff_t>(i) * table.pair[1]];
      const C s = n.op().backwards ? -sine : sine;
      const auto first = static_cast<std::ptrdiff_t>(split ? i : 2 * i);
      const auto second = static_cast<std::ptrdiff_t>(split ? i + table.pairs : 2 * i + 1);
      const C a = from[first * step_in];
      const C b = from[second * step_in];
      out[first * step_out] = a * c - b * s;
      out[second * step_out] = b * c + a * s;
    }
    for (std::size_t f = 2 * table.pairs; f < features; ++f) {
      out[static_cast<std::ptrdiff_t>(f) * step_out] = from[static_cast<std::ptrdiff_t>(f) * step_in];
    }
  };
  kernels::for_each_row(nest_over(axes::size, rest, strides),
                        [&](const std::ptrdiff_t(&o)[4], std::size_t count, const std::ptrdiff_t(&s)[4]) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto j = static_cast<std::ptrdiff_t>(i);
      turn(to.data + o[0] + j * s[0], x.data + o[1] + j * s[1], table.cosines.data + o[2] + j * s[2],
           table.sines.data + o[3] + j * s[3]);
    }
  });
}

// The slope of head h of n: 2^(−8(h+1)/n), interleaved with those of twice as many heads where n is no power of two.
[[nodiscard]] inline double alibi_slope(std::size_t h, std::size_t n) {
  std::size_t power = 1;
  while (power * 2 <= n) { power *= 2; }
  if (h < power) { return math::exp2(-8.0 * static_cast<double>(h + 1) / static_cast<double>(power)); }
  return math::exp2(-8.0 * static_cast<double>(2 * (h - power) + 1) / static_cast<double>(2 * power));
}

template <class C, class Pass, class B, class Extents>
lowered<C> bias_buffer(const Extents& e) {
  lowered<C> result;
  axis_extents<bias_axes<B>>::write_contiguous(e, result.axes);
  allocate<Pass, C, bias_axes<B>>(result, B::name);
  return result;
}

// Biases over [Q, K, rest]: the distance key − query is all that they depend on.
template <class C, class Q, class K, class H, class Extents>
void fill_bias(const alibi<Q, K, H>& b, const Extents& e, lowered<C>& result) {
  const std::ptrdiff_t distance = b.key_origin(e, "alibi") - b.query_origin(e, "alibi");
  C* to = result.buffer.data();
  const std::size_t heads = e.template extent<H>();  // of all their axes
  for (std::size_t q = 0; q < result.axes[0].extent; ++q) {
    for (std::size_t k = 0; k < result.axes[1].extent; ++k) {
      const std::ptrdiff_t d = distance + static_cast<std::ptrdiff_t>(k) * position_step<K> -
                               static_cast<std::ptrdiff_t>(q) * position_step<Q>;
      for (std::size_t h = 0; h < heads; ++h) {
        *to++ = static_cast<C>(-alibi_slope(h, heads) * static_cast<double>(d < 0 ? -d : d));
      }
    }
  }
}
template <class C, class Q, class K, class R, class Table, class Bucket, class Extents>
void fill_bias(const relative_bias_of<Q, K, R, Table, Bucket>& b, const Extents& e, lowered<C>& result,
               const lowered<C>& table) {
  using bias = relative_bias_of<Q, K, R, Table, Bucket>;
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
      const std::size_t at = b.bucket()(distance + static_cast<std::ptrdiff_t>(k) * position_step<K> -
                                            static_cast<std::ptrdiff_t>(q) * position_step<Q>,
                                        relative.extent);
      if (at >= relative.extent) {
        raise<index_error>(error{} << "relative_bias: bucket " << static_cast<long long>(at) << " is outside dimension "
                                   << dimension_name<R>() << " of extent " << relative.extent);
      }
      const std::ptrdiff_t place = static_cast<std::ptrdiff_t>(q) * result.axes[0].stride +
                                   static_cast<std::ptrdiff_t>(k) * result.axes[1].stride;
      kernels::for_each_element(outside, [&](std::ptrdiff_t t, std::ptrdiff_t f) {
        result.buffer[static_cast<std::size_t>(place + t)] =
            table.data[f + static_cast<std::ptrdiff_t>(at) * relative.stride];
      });
    }
  }
}

template <class C, class Pass, class B, class Extents>
lowered<C> read_bias(Pass& pass, const B& b, const Extents& e) {
  auto result = bias_buffer<C, Pass, B>(e);
  if constexpr (requires { b.table(); }) {
    const auto table = read<C>(pass, b.table());
    if constexpr (Pass::computes) { fill_bias(b, e, result, table); }
  } else if constexpr (Pass::computes) {
    fill_bias(b, e, result);
  }
  return result;
}

template <class C, class Shape, class Q, class R, class K, class E, class Lowered>
void loops(const skew_node<Shape, Q, R, K, E>& n, target<C> to, const Lowered& in) {
  using axes = axes_for<Shape>;
  using inner_axes = axes_for<shape_of<E>>;
  const auto& x = child_in<0>(in);
  const axis relative = x.axes[index_in<R, inner_axes>];
  // Position of element r of R is r + its origin; it is the distance key − query.
  const std::ptrdiff_t first = n.extents().template origin<K>("skew") - n.extents().template origin<Q>("skew") -
                               n.template child<0>().extents().template origin<R>("skew");
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
      const std::ptrdiff_t out =
          static_cast<std::ptrdiff_t>(q) * strides[0][q_axis] + static_cast<std::ptrdiff_t>(k) * strides[0][k_axis];
      const std::ptrdiff_t from = there ? static_cast<std::ptrdiff_t>(q) * strides[1][q_axis] + r * relative.stride : 0;
      kernels::for_each_element(
          outside, [&](std::ptrdiff_t t, std::ptrdiff_t f) { to.data[t + out] = there ? x.data[f + from] : C(0); });
    }
  }
}

}  // namespace dimwise::detail

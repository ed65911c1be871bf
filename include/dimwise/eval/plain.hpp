// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/plain.hpp -- the plain evaluator: every expression, node by node, in the element type or in float64.
//
// Layer: eval. It stays the reference for all faster plans.
// `lower<C>(n)` gives memory to read; `compute<C>(n, to)` writes a node's elements; nodes that only look otherwise at their
// operand have the first, all others the second.
// Tests: tests/expr/*.test.cpp, tests/eval/evaluate.test.cpp
#pragma once

#include <dimwise/eval/execution.hpp>
#include <dimwise/eval/lower.hpp>
#include <dimwise/eval/narrow.hpp>
#include <dimwise/eval/plain_ids.hpp>
#include <dimwise/eval/plain_positions.hpp>
#include <dimwise/expr/causal_parts.hpp>
#include <dimwise/expr/contract.hpp>
#include <dimwise/expr/elementwise.hpp>
#include <dimwise/expr/join.hpp>
#include <dimwise/expr/mask.hpp>
#include <dimwise/expr/reduce.hpp>
#include <dimwise/expr/restride.hpp>
#include <dimwise/expr/whole_rows.hpp>

namespace dimwise::detail {

// ---- leaves, and what only looks at them --------------------------------------------------------------------------

template <class N>
inline constexpr bool only_looks = is_leaf<N>;
template <class Shape, class How, class E>
inline constexpr bool only_looks<restride<Shape, How, E>> = true;

// A mask as a tensor of bool is the mask's own elements.
template <class Shape, class M>
inline constexpr bool only_looks<indicator_node<Shape, bool, M>> = true;

template <class C, class N>
lowered<compute_t<C, value_of<N>>> lower(const N& n);
template <class C, class N>
void compute_into(const N& n, target<compute_t<C, value_of<N>>> to);

template <class T, class From, class To>
void copy_axes(std::size_t rank, const axis* axes, const axis* to_axes, const axis* from_axes, To* to,
               const From* from) {
  std::ptrdiff_t strides[2][max_rank] = {};
  for (std::size_t i = 0; i < rank; ++i) {
    strides[0][i] = to_axes[i].stride;
    strides[1][i] = from_axes[i].stride;
  }
  kernels::copy(nest_over(rank, axes, strides), to, from);
}

// The elements in a buffer of their own, row-major.
template <class T, class Axes>
void make_dense(lowered<T>& x) {
  axis dense[max_rank];
  for (std::size_t i = 0; i < Axes::size; ++i) { dense[i].extent = x.axes[i].extent; }
  const extent_t size = checked_contiguous<Axes>(dense, sizeof(T), "evaluate");
  aligned_vector<T> buffer(size);
  copy_axes<T>(Axes::size, dense, dense, x.axes, buffer.data(), x.data);
  for (std::size_t i = 0; i < Axes::size; ++i) { x.axes[i] = dense[i]; }
  x.buffer = static_cast<aligned_vector<T>&&>(buffer);
  x.data = x.buffer.data();
  x.derived = nullptr;
}

template <class C, class N>
lowered<C> lower_leaf(const N& n) {
  lowered<C> result;
  const auto* data = read_leaf(n, result.axes);
  if constexpr (std::is_same_v<C, value_of<N>>) {
    result.data = data;
    if constexpr (is_tensor<N>) { result.derived = n.derived(); }
  } else {
    constexpr std::size_t rank = axes_for<shape_of<N>>::size;
    axis from[max_rank];
    for (std::size_t i = 0; i < rank; ++i) { from[i] = result.axes[i]; }
    result.buffer.resize(checked_contiguous<axes_for<shape_of<N>>>(result.axes, sizeof(C), "evaluate"));
    copy_axes<C>(rank, result.axes, result.axes, from, result.buffer.data(), data);
    result.data = result.buffer.data();
  }
  return result;
}

// Axes of the result from the operand's axes of the same name; a step has already changed those that it speaks of.
template <class ResultAxes, class OperandAxes, class Extents>
void carry_axes(const Extents& e, const axis* from, axis* to) {
  axis result[max_rank];
  axis_extents<ResultAxes>::write(e, result);
  std::ptrdiff_t strides[max_rank] = {};
  align<ResultAxes, OperandAxes>(from, strides);
  for (std::size_t i = 0; i < ResultAxes::size; ++i) { to[i] = {result[i].extent, strides[i]}; }
}

// Where `D`'s axes begin among the axes of some dimensions.
template <class D, class... Dims>
consteval std::size_t first_axis(list<Dims...>) {
  std::size_t at = 0;
  (void)((std::is_same_v<D, Dims> || (at += axes_of<Dims>::type::size, false)) || ...);
  return at;
}

template <class E, class Extents, class From, class To, class Result>
void step(operand_layout& x, const Extents& e, look::rename<From, To>, Result) {
  using from_dims = dims_t<shape_of<E>>;
  constexpr std::size_t first = first_axis<From>(from_dims{});
  constexpr std::size_t old_count = axes_of<From>::type::size;
  constexpr std::size_t new_count = axes_of<To>::type::size;
  const std::ptrdiff_t innermost = x.axes[first + old_count - 1].stride;
  axis result[max_rank];
  axis_extents<typename Result::axes>::write(e, result);
  constexpr std::size_t rank = axes_for<shape_of<E>>::size;
  axis old[max_rank];
  for (std::size_t i = 0; i < rank; ++i) { old[i] = x.axes[i]; }
  for (std::size_t i = 0; i < first; ++i) { x.axes[i] = old[i]; }
  std::ptrdiff_t stride = innermost;
  for (std::size_t i = first + new_count; i-- > first;) {
    x.axes[i] = {result[i].extent, stride};
    stride = times(stride, result[i].extent);
  }
  for (std::size_t i = first + old_count; i < rank; ++i) { x.axes[i + new_count - old_count] = old[i]; }
}

template <class E, class Extents, class Result>
void step(operand_layout& x, const Extents& e, look::regroup, Result) {
  axis result[max_rank];
  carry_axes<typename Result::axes, axes_for<shape_of<E>>>(e, x.axes, result);
  for (std::size_t i = 0; i < Result::axes::size; ++i) { x.axes[i] = result[i]; }
}
template <class E, class Extents, class Result>
void step(operand_layout&, const Extents&, look::marks, Result) {}
template <class E, class Extents, class Result>
void step(operand_layout& x, const Extents& e, look::broadcast, Result r) {
  step<E>(x, e, look::regroup{}, r);
}

// Elements before part P in a sum.
template <class P, class Extents, class... Parts>
extent_t elements_before(const Extents& e, list<Parts...>) {
  extent_t before = 0;
  (void)((std::is_same_v<P, Parts> || (before += e.template extent<Parts>(), false)) || ...);
  return before;
}
template <class Whole>
struct parts_of;
template <class... P>
struct parts_of<summed<P...>> {
  using type = list<P...>;
};

template <class E, class Extents, class Whole, class P, class Result>
void step_part(operand_layout& x, const E& whole, const Extents& e, look::part<Whole, P>, Result) {
  constexpr std::size_t first = first_axis<Whole>(dims_t<shape_of<E>>{});
  constexpr std::size_t count = axes_of<P>::type::size;
  constexpr std::size_t rank = axes_for<shape_of<E>>::size;
  x.first += times(x.axes[first].stride, elements_before<P>(whole.extents(), typename parts_of<Whole>::type{}));
  axis result[max_rank];
  axis_extents<typename Result::axes>::write(e, result);
  axis old[max_rank];
  for (std::size_t i = 0; i < rank; ++i) { old[i] = x.axes[i]; }
  std::ptrdiff_t stride = old[first].stride;
  for (std::size_t i = first + count; i-- > first;) {
    x.axes[i] = {result[i].extent, stride};
    stride = times(stride, result[i].extent);
  }
  for (std::size_t i = first + 1; i < rank; ++i) { x.axes[i + count - 1] = old[i]; }
}

template <class E, class Extents, class A, class B, class Result>
void step(operand_layout& x, const Extents& e, look::diagonal<A, B>, Result r) {
  x.axes[first_axis<A>(dims_t<shape_of<E>>{})].stride += x.axes[first_axis<B>(dims_t<shape_of<E>>{})].stride;
  step<E>(x, e, look::regroup{}, r);
}
template <class E, class Extents, class D, class Result>
void step(operand_layout& x, const Extents& e, look::at<D> how, Result r) {
  x.first += times(x.axes[first_axis<D>(dims_t<shape_of<E>>{})].stride, how.index);
  step<E>(x, e, look::regroup{}, r);
}
template <class E, class Extents, class D, class R, class Result>
void step(operand_layout& x, const Extents& e, look::slice<D, R> how, Result) {
  constexpr std::size_t first = first_axis<D>(dims_t<shape_of<E>>{});
  constexpr std::size_t count = axes_of<D>::type::size;
  constexpr std::size_t rank = axes_for<shape_of<E>>::size;
  if constexpr (count > 1) {
    x.axes[first].stride = x.axes[first + count - 1].stride;
    for (std::size_t i = first + count; i < rank; ++i) { x.axes[i + 1 - count] = x.axes[i]; }
  }
  x.first += times(x.axes[first].stride, how.first);
  x.axes[first].extent = e.template extent<R>();
}

template <class E, class Extents, class D, class W, class R, class Result>
void step(operand_layout& x, const Extents& e, look::unroll<D, W, R>, Result) {
  constexpr std::size_t at = first_axis<D>(dims_t<shape_of<E>>{});
  for (std::size_t i = axes_for<shape_of<E>>::size; i-- > at + 1;) { x.axes[i + 1] = x.axes[i]; }
  x.axes[at + 1] = {e.template extent<W>(), x.axes[at].stride};
  x.axes[at].extent = e.template extent<R>();
}
template <class E, class Extents, class D, class W, class R, class Result>
void step(operand_layout& x, const Extents& e, look::pool<D, W, R>, Result r) {
  step<E>(x, e, look::unroll<D, W, R>{}, r);
  constexpr std::size_t at = first_axis<D>(dims_t<shape_of<E>>{});
  x.axes[at].stride = times(x.axes[at].stride, e.template extent<W>());
}

template <class Axes>
struct result_axes {
  using axes = Axes;
};

// A product that becomes one dimension: its elements must lie one after the other, or they are copied first.
template <class How>
struct joins_axes_of {
  using type = list<>;
};
template <class From, class To>
struct joins_axes_of<look::rename<From, To>> : axes_of<From> {
  using dimension = From;
};
template <class D, class R>
struct joins_axes_of<look::slice<D, R>> : axes_of<D> {
  using dimension = D;
};
template <class How>
inline constexpr bool joins_axes = joins_axes_of<How>::type::size > 1;
template <class How, class E>
bool needs_dense(const axis* axes) {
  using joined = joins_axes_of<How>;
  return !follow_each_other(axes + first_axis<typename joined::dimension>(dims_t<shape_of<E>>{}), joined::type::size);
}

// The layout of a node that looks otherwise, from that of its operand, which is dense where it must be.
template <class Shape, class How, class E>
void take_step(operand_layout& x, const restride<Shape, How, E>& n) {
  step<E>(x, n.extents(), n.op().how, result_axes<axes_for<Shape>>{});
}
template <class Shape, class Whole, class P, class E>
void take_step(operand_layout& x, const restride<Shape, look::part<Whole, P>, E>& n) {
  step_part<E>(x, n.template child<0>(), n.extents(), n.op().how, result_axes<axes_for<Shape>>{});
}
template <class T, class Shape, class How, class E>
void look_otherwise(lowered<T>& x, const restride<Shape, How, E>& n) {
  if constexpr (joins_axes<How>) {
    if (needs_dense<How, E>(x.axes)) { make_dense<T, axes_for<shape_of<E>>>(x); }
  }
  take_step(x, n);
  if (x.data != nullptr) { x.data += x.first; }  // null: there are no elements
  x.first = 0;
}

template <class C, class N>
struct look_at;
template <class C, class Shape, class How, class E>
struct look_at<C, restride<Shape, How, E>> {
  static auto lower_it(const restride<Shape, How, E>& n) {
    auto x = lower<C>(n.template child<0>());
    look_otherwise(x, n);
    return x;
  }
};

// ---- masks ----------------------------------------------------------------------------------------------------------

template <class M>
using mask_axes = axes_of_list_t<typename M::facts::dims>;

template <class M, class Extents>
lowered<bool> mask_buffer(const Extents& e) {
  lowered<bool> result;
  axis_extents<mask_axes<M>>::write(e, result.axes);
  result.buffer.resize(checked_contiguous<mask_axes<M>>(result.axes, 1, "masked"));
  result.data = result.buffer.data();
  return result;
}

template <class M, class Extents>
lowered<bool> lower_mask(const M& m, const Extents& e);

// Masks that compare a query's position with a key's; two loops, no element looked up.
template <class M, class Extents>
lowered<bool> lower_positions(const M& m, const Extents& e) {
  auto result = mask_buffer<M>(e);
  const std::ptrdiff_t q0 = m.query_origin(e, M::name);
  const std::ptrdiff_t k0 = m.key_origin(e, M::name);
  std::ptrdiff_t in_front = 0;  // keys without positions, which every query sees
  if constexpr (requires { m.in_front(e); }) { in_front = m.in_front(e); }
  const auto queries = static_cast<std::ptrdiff_t>(result.axes[0].extent);
  const auto keys = static_cast<std::ptrdiff_t>(result.axes[1].extent);
  bool* to = result.buffer.data();
  for (std::ptrdiff_t q = 0; q < queries; ++q) {
    for (std::ptrdiff_t k = 0; k < keys; ++k) { *to++ = k < in_front || m.visible(q0 + q, k0 + (k - in_front)); }
  }
  return result;
}

// The document that each packed position belongs to.
inline void write_documents(const segments& documents, std::size_t n, aligned_vector<std::size_t>& to) {
  to.resize(n);
  std::size_t at = 0;
  std::size_t number = 0;
  for (const std::size_t length : documents) {
    for (std::size_t i = 0; i < length && at < n; ++i) { to[at++] = number; }
    ++number;
  }
}

template <class Q, class K, class Extents>
lowered<bool> lower_documents(const document<Q, K>&, const Extents& e) {
  auto result = mask_buffer<document<Q, K>>(e);
  aligned_vector<std::size_t> of_query;
  aligned_vector<std::size_t> of_key;
  write_documents(e.template documents<Q>(), result.axes[0].extent, of_query);
  write_documents(e.template documents<K>(), result.axes[1].extent, of_key);
  bool* to = result.buffer.data();
  for (std::size_t q = 0; q < result.axes[0].extent; ++q) {
    for (std::size_t k = 0; k < result.axes[1].extent; ++k) { *to++ = of_query[q] == of_key[k]; }
  }
  return result;
}

template <class K, class L, class Extents>
lowered<bool> lower_padding(const padding_mask<K, L>& m, const Extents& e) {
  auto result = mask_buffer<padding_mask<K, L>>(e);
  auto lengths = lower<working_t<L>>(m.lengths());
  constexpr std::size_t rank = axes_for<shape_of<L>>::size;
  make_dense<value_of<L>, axes_for<shape_of<L>>>(lengths);
  const std::size_t keys = result.axes[rank].extent;
  bool* to = result.buffer.data();
  extent_t count = 1;
  for (std::size_t i = 0; i < rank; ++i) { count *= result.axes[i].extent; }
  for (std::size_t i = 0; i < count; ++i) {
    const auto length = static_cast<long long>(lengths.data[i]);
    if (length < 0 || static_cast<unsigned long long>(length) > keys) {
      raise<extent_error>(error{} << "padding: length " << length << " is outside dimension " << dimension_name<K>()
                                  << " of extent " << keys << " (R7)");
    }
    for (std::size_t k = 0; k < keys; ++k) { *to++ = static_cast<long long>(k) < length; }
  }
  return result;
}

template <class Whole, class M, class Extents>
void combine(const M& m, const Extents& e, lowered<bool>& to, bool (*join)(bool, bool), bool first) {
  const auto x = lower_mask(m, e);
  std::ptrdiff_t strides[2][max_rank] = {};
  for (std::size_t i = 0; i < Whole::size; ++i) { strides[0][i] = to.axes[i].stride; }
  align<Whole, mask_axes<M>>(x.axes, strides[1]);
  bool* out = to.buffer.data();
  kernels::for_each_element(nest_over(Whole::size, to.axes, strides), [&](std::ptrdiff_t t, std::ptrdiff_t f) {
    out[t] = first ? x.data[f] : join(out[t], x.data[f]);
  });
}

template <class M>
inline constexpr bool is_pair = false;
template <class How, class A, class B>
inline constexpr bool is_pair<mask_pair<How, A, B>> = true;
template <class M>
inline constexpr bool is_padding = false;
template <class K, class L>
inline constexpr bool is_padding<padding_mask<K, L>> = true;
template <class M>
inline constexpr bool is_document = false;
template <class Q, class K>
inline constexpr bool is_document<document<Q, K>> = true;

template <class M, class Extents>
lowered<bool> lower_mask(const M& m, const Extents& e) {
  if constexpr (is_pair<M>) {
    auto result = mask_buffer<M>(e);
    combine<mask_axes<M>>(m.left(), e, result, &M::how::join, true);
    combine<mask_axes<M>>(m.right(), e, result, &M::how::join, false);
    return result;
  } else if constexpr (is_padding<M>) {
    return lower_padding(m, e);
  } else if constexpr (is_document<M>) {
    return lower_documents(m, e);
  } else if constexpr (is_whole_rows<M>) {
    return lower_mask(m.inner(), e);
  } else if constexpr (requires { m.elements(); }) {
    return lower<working_t<std::remove_cvref_t<decltype(m.elements())>>>(m.elements());
  } else if constexpr (requires { m.inner(); }) {
    auto result = mask_buffer<M>(e);
    combine<mask_axes<M>>(m.inner(), e, result, nullptr, true);
    for (bool& visible : result.buffer) { visible = !visible; }
    return result;
  } else {
    return lower_positions(m, e);
  }
}

template <class C, class Shape, class M>
struct look_at<C, indicator_node<Shape, bool, M>> {
  static auto lower_it(const indicator_node<Shape, bool, M>& n) {
    return lower_mask(n.template child<0>(), n.extents());
  }
};

// ---- nodes that compute ---------------------------------------------------------------------------------------------

template <class N>
inline constexpr bool is_masked = marked_t<masked_for, marks_t<shape_of<N>>>::size > 0;

template <class C, class T>
void compute(const constant<T>& n, target<compute_t<C, T>> to) {
  *to.data = static_cast<compute_t<C, T>>(n.op().value);
}

// Pointers of an elementwise loop: the result's and each operand's.
template <class C, class Shape, class T, class F, class... X, class Lowered, std::size_t... I>
void elementwise_loops(const elementwise<Shape, T, F, X...>& n, target<compute_t<C, T>> to, const Lowered& x,
                       std::index_sequence<I...>) {
  using axes = axes_for<Shape>;
  axis result[max_rank];
  axis_extents<axes>::write(n.extents(), result);
  std::ptrdiff_t strides[1 + sizeof...(X)][max_rank] = {};
  for (std::size_t i = 0; i < axes::size; ++i) { strides[0][i] = to.axes[i].stride; }
  (align<axes, axes_for<shape_of<X>>>(std::get<I>(x).axes, strides[1 + I]), ...);
  const F f = n.op().f;
  constexpr bool keeps_mask = (is_masked<X> || ...) && !fn::ends_mask<F>;
  kernels::for_each_row(
      nest_over(axes::size, result, strides),
      [&](const std::ptrdiff_t(&o)[1 + sizeof...(X)], std::size_t count, const std::ptrdiff_t(&s)[1 + sizeof...(X)]) {
    auto* out = to.data + o[0];
    for (std::size_t i = 0; i < count; ++i) {
      const auto j = static_cast<std::ptrdiff_t>(i);
      if constexpr (keeps_mask) {
        // What is masked stays masked, whatever the arithmetic would make of −∞.
        if (((is_masked<X> && std::get<I>(x).data[o[1 + I] + j * s[1 + I]] == kernels::minus_infinity<C>) || ...)) {
          out[j * s[0]] = kernels::minus_infinity<C>;
          continue;
        }
      }
      out[j * s[0]] = f(std::get<I>(x).data[o[1 + I] + j * s[1 + I]]...);
    }
  });
}
template <class C, class Shape, class T, class F, class... X, std::size_t... I>
void compute_elementwise(const elementwise<Shape, T, F, X...>& n, target<compute_t<C, T>> to,
                         std::index_sequence<I...> all) {
  elementwise_loops<C>(n, to, std::tuple<lowered<compute_t<C, value_of<X>>>...>(lower<C>(n.template child<I>())...),
                       all);
}
template <class C, class Shape, class T, class F, class... X>
void compute_plainly(const elementwise<Shape, T, F, X...>& n, target<compute_t<C, T>> to) {
  compute_elementwise<C>(n, to, std::index_sequence_for<X...>{});
}

// Attention weights know which of them are of the score −∞, hidden or not: −0, which no other weight is. A product with them
// leaves the values of these out, whatever they are.
template <class N>
inline constexpr bool gives_hidden_weights = false;
template <class Shape, class Over, class E>
inline constexpr bool gives_hidden_weights<rowwise<Shape, rows::softmax, Over, E>> = true;
template <class Shape, class How, class E>
inline constexpr bool gives_hidden_weights<restride<Shape, How, E>> = gives_hidden_weights<E>;

template <class C, bool SkipHidden, class Over, class Plain, class Shape, class A, class B>
void contract_axes(const extents_for<Shape>& extents, const lowered<C>& a, const lowered<C>& b, const A& left,
                   target<C> to) {
  using result = axes_of_list_t<Plain>;  // the result's axes as the operands call them
  using sums = axes_of_list_t<Over>;
  using a_axes = axes_for<shape_of<A>>;
  using b_axes = axes_for<shape_of<B>>;
  axis all[max_rank];
  axis_extents<axes_for<Shape>>::write(extents, all);
  std::ptrdiff_t strides[3][max_rank] = {};
  for (std::size_t i = 0; i < result::size; ++i) { strides[0][i] = to.axes[i].stride; }
  align<result, a_axes>(a.axes, strides[1]);
  align<result, b_axes>(b.axes, strides[2]);
  axis summed[max_rank];
  axis_extents<sums>::write(left.extents(), summed);
  std::ptrdiff_t inside[2][max_rank] = {};
  align<sums, a_axes>(a.axes, inside[0]);
  align<sums, b_axes>(b.axes, inside[1]);
  kernels::contract<SkipHidden>(nest_over(result::size, all, strides), nest_over(sums::size, summed, inside), to.data,
                                a.data, b.data);
}

template <class C, class N>
lowered<C> lower_weights(const N& n);

template <class C, class Shape, class Over, class A, class B>
void compute_plainly(const contraction<Shape, Over, A, B>& n, target<C> to) {
  using plain_dims = typename product_facts<Over, list<>, shape_of<A>, shape_of<B>>::result;
  if constexpr (gives_hidden_weights<B> && !gives_hidden_weights<A>) {
    const auto a = lower<C>(n.template child<0>());
    const auto b = lower_weights<C>(n.template child<1>());
    contract_axes<C, true, Over, plain_dims, Shape, B, A>(n.extents(), b, a, n.template child<1>(), to);
  } else if constexpr (gives_hidden_weights<A>) {
    const auto a = lower_weights<C>(n.template child<0>());
    const auto b = lower<C>(n.template child<1>());
    contract_axes<C, true, Over, plain_dims, Shape, A, B>(n.extents(), a, b, n.template child<0>(), to);
  } else {
    const auto a = lower<C>(n.template child<0>());
    const auto b = lower<C>(n.template child<1>());
    contract_axes<C, false, Over, plain_dims, Shape, A, B>(n.extents(), a, b, n.template child<0>(), to);
  }
}

// Whether a kernel has taken a mask, a bias, or a reduction; the plain evaluator declares what compute.hpp decides.
template <class N, class C>
bool mask_is_done(const N& n, const lowered<C>& x, const lowered<bool>& visible, target<C> to);
template <class Shape, class E, class BiasAxes, class C>
bool bias_is_done(const extents_for<Shape>& extents, const lowered<C>& x, const lowered<C>& bias, target<C> to);
template <class N, class Loops, class C, class T>
bool reduction_is_done(const Loops& loops, T* to, const C* from);

template <class C, class Shape, class E, class M>
bool compute(const masked_node<Shape, E, M>& n, target<C> to) {
  using axes = axes_for<Shape>;
  const auto x = lower<C>(n.template child<0>());
  const auto visible = lower_mask(n.template child<1>(), n.extents());
  if (mask_is_done(n, x, visible, to)) { return true; }
  axis result[max_rank];
  axis_extents<axes>::write(n.extents(), result);
  std::ptrdiff_t strides[3][max_rank] = {};
  for (std::size_t i = 0; i < axes::size; ++i) { strides[0][i] = to.axes[i].stride; }
  align<axes, axes_for<shape_of<E>>>(x.axes, strides[1]);
  align<axes, mask_axes<M>>(visible.axes, strides[2]);
  kernels::for_each_row(nest_over(axes::size, result, strides),
                        [&](const std::ptrdiff_t(&o)[3], std::size_t count, const std::ptrdiff_t(&s)[3]) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto j = static_cast<std::ptrdiff_t>(i);
      to.data[o[0] + j * s[0]] = visible.data[o[2] + j * s[2]] ? x.data[o[1] + j * s[1]] : kernels::minus_infinity<C>;
    }
  });
  return false;
}

template <class C, class Shape, class T, class M>
void compute(const indicator_node<Shape, T, M>& n, target<compute_t<C, T>> to) {
  using axes = axes_for<Shape>;
  const auto visible = lower_mask(n.template child<0>(), n.extents());
  axis result[max_rank];
  axis_extents<axes>::write(n.extents(), result);
  std::ptrdiff_t strides[2][max_rank] = {};
  for (std::size_t i = 0; i < axes::size; ++i) { strides[0][i] = to.axes[i].stride; }
  align<axes, mask_axes<M>>(visible.axes, strides[1]);
  kernels::copy(nest_over(axes::size, result, strides), to.data, visible.data);
}

// Scores plus a bias with these axes. A bias of −∞ hides whatever the score is, and what is masked stays masked.
template <class C, class Shape, class E, class BiasAxes>
bool compute_bias(const E& scores, const extents_for<Shape>& extents, const lowered<C>& b, target<C> to) {
  using axes = axes_for<Shape>;
  const auto x = lower<C>(scores);
  if (bias_is_done<Shape, E, BiasAxes>(extents, x, b, to)) { return true; }
  axis result[max_rank];
  axis_extents<axes>::write(extents, result);
  std::ptrdiff_t strides[3][max_rank] = {};
  for (std::size_t i = 0; i < axes::size; ++i) { strides[0][i] = to.axes[i].stride; }
  align<axes, axes_for<shape_of<E>>>(x.axes, strides[1]);
  align<axes, BiasAxes>(b.axes, strides[2]);
  kernels::for_each_row(nest_over(axes::size, result, strides),
                        [&](const std::ptrdiff_t(&o)[3], std::size_t count, const std::ptrdiff_t(&s)[3]) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto j = static_cast<std::ptrdiff_t>(i);
      const C v = x.data[o[1] + j * s[1]];
      const C more = b.data[o[2] + j * s[2]];
      const bool hidden = more == kernels::minus_infinity<C> || (is_masked<E> && v == kernels::minus_infinity<C>);
      to.data[o[0] + j * s[0]] = hidden ? kernels::minus_infinity<C> : v + more;
    }
  });
  return false;
}
template <class C, class Shape, class E, class B>
bool compute(const biased_node<Shape, E, B>& n, target<C> to) {
  return compute_bias<C, Shape, E, axes_for<shape_of<B>>>(n.template child<0>(), n.extents(),
                                                          lower<C>(n.template child<1>()), to);
}
template <class C, class Shape, class E, class B>
bool compute(const position_biased_node<Shape, E, B>& n, target<C> to) {
  return compute_bias<C, Shape, E, bias_axes<B>>(n.template child<0>(), n.extents(),
                                                 lower_bias<C>(n.template child<1>(), n.extents()), to);
}

// The loops outside a row and inside it: axes that `Over` lacks, and those it has.
template <class ResultAxes, class OperandAxes, class Over>
struct row_loops {
  kernels::loop_nest<2> outside;
  kernels::loop_nest<2> inside;

  row_loops(const axis* to, const axis* from) {
    using rest = difference_t<OperandAxes, Over>;
    std::ptrdiff_t strides[2][max_rank] = {};
    axis extents[max_rank];
    align<rest, ResultAxes>(to, strides[0]);
    align<rest, OperandAxes>(from, strides[1]);
    take<rest>(from, extents);
    outside = nest_over(rest::size, extents, strides);
    std::ptrdiff_t row[2][max_rank] = {};
    align<Over, ResultAxes>(to, row[0]);
    align<Over, OperandAxes>(from, row[1]);
    take<Over>(from, extents);
    inside = nest_over(Over::size, extents, row);
  }

 private:
  template <class Axes>
  static void take(const axis* from, axis* to) {
    constexpr const short* at = places<Axes, OperandAxes>::at;
    for (std::size_t i = 0; i < Axes::size; ++i) { to[i] = from[at[i]]; }
  }
};

template <class C, class How>
void one_row(const kernels::loop_nest<2>& row, C* to, const C* from, C hidden, C epsilon) {
  if constexpr (std::is_same_v<How, rows::softmax>) {
    kernels::softmax_row(row, to, from, hidden);
  } else if constexpr (std::is_same_v<How, rows::log_softmax>) {
    kernels::log_softmax_row(row, to, from);
  } else if constexpr (std::is_same_v<How, rows::renormalise>) {
    kernels::renormalise_row(row, to, from);
  } else if constexpr (std::is_same_v<How, rows::standardize>) {
    kernels::standardize_row(row, to, from, epsilon);
  } else if constexpr (std::is_same_v<How, rows::root_mean_square>) {
    kernels::root_mean_square_row(row, to, from, epsilon);
  } else {
    kernels::scan_row(row, to, from);
  }
}

// Whether a kernel has taken the rows of a node; the plain evaluator declares what compute.hpp decides.
template <class How, class Loops, class C>
bool rows_are_done(const Loops& loops, C* to, const C* from, C hidden, C epsilon);

template <class C, class Shape, class How, class Over, class E>
bool compute_rows(const rowwise<Shape, How, Over, E>& n, target<compute_t<C, value_of<E>>> to,
                  compute_t<C, value_of<E>> hidden) {
  using T = compute_t<C, value_of<E>>;
  const auto x = lower<C>(n.template child<0>());
  const row_loops<axes_for<Shape>, axes_for<shape_of<E>>, axes_of_list_t<Over>> loops(to.axes, x.axes);
  if (loops.inside.empty()) { return true; }
  const T epsilon = static_cast<T>(n.op().epsilon);
  if (rows_are_done<How>(loops, to.data, x.data, hidden, epsilon)) { return true; }
  kernels::for_each_element(loops.outside, [&](std::ptrdiff_t t, std::ptrdiff_t f) {
    one_row<T, How>(loops.inside, to.data + t, x.data + f, hidden, epsilon);
  });
  return false;
}

// One number from the visible elements of a row; `visit(f)` calls f(element, place in the row) for each of them.
template <class How, class T, class C, class Visit>
T total_of(const Visit& visit) {
  constexpr bool least = std::is_same_v<How, totals::min>;
  if constexpr (std::is_same_v<How, totals::sum> || std::is_same_v<How, totals::mean>) {
    C total = C(0);
    C count = C(0);
    visit([&](C x, std::size_t) {
      total += x;
      count += C(1);
    });
    if constexpr (std::is_same_v<How, totals::mean>) { return count == C(0) ? C(0) : total / count; }
    return total;
  } else {
    C best = least ? std::numeric_limits<C>::infinity() : kernels::minus_infinity<C>;
    std::size_t at = 0;
    bool any = false;
    bool nan = false;
    visit([&](C x, std::size_t place) {
      if (!any || (!nan && (x != x || (least ? x < best : x > best)))) {
        nan = x != x;
        best = x;
        at = place;
      }
      any = true;
    });
    if constexpr (std::is_same_v<How, totals::argmax>) {
      if (!any) { raise<index_error>(error{} << "argmax: nothing is visible in a row"); }
      return T(at);
    } else if constexpr (std::is_same_v<How, totals::logsumexp>) {
      if (best == kernels::minus_infinity<C> || best == std::numeric_limits<C>::infinity()) { return best; }
      C total = C(0);
      visit([&](C x, std::size_t) { total += std::exp(x - best); });
      return best + std::log(total);
    } else {
      return best;
    }
  }
}

// Masked right before it is reduced: the mask itself says what is hidden, and a visible −∞ counts.
template <class C, class Shape, class T, class How, class Over, class Inner, class E, class M, class To>
void reduce_masked(const reduction<Shape, T, How, Over, masked_node<Inner, E, M>>& n, const To& to) {
  using R = compute_t<C, value_of<E>>;
  using axes = axes_for<Inner>;
  using over = axes_of_list_t<Over>;
  using rest = difference_t<axes, over>;
  const auto& masked = n.template child<0>();
  const auto x = lower<C>(masked.template child<0>());
  const auto visible = lower_mask(masked.template child<1>(), masked.extents());
  std::ptrdiff_t strides[3][max_rank] = {};
  axis extents[max_rank];
  align<rest, axes_for<Shape>>(to.axes, strides[0]);
  align<rest, axes_for<shape_of<E>>>(x.axes, strides[1]);
  align<rest, mask_axes<M>>(visible.axes, strides[2]);
  axis_extents<rest>::write(masked.extents(), extents);
  const auto outside = nest_over(rest::size, extents, strides);
  std::ptrdiff_t row[2][max_rank] = {};
  align<over, axes_for<shape_of<E>>>(x.axes, row[0]);
  align<over, mask_axes<M>>(visible.axes, row[1]);
  axis_extents<over>::write(masked.extents(), extents);
  const auto inside = nest_over(over::size, extents, row);
  kernels::for_each_row(outside, [&](const std::ptrdiff_t(&o)[3], std::size_t count, const std::ptrdiff_t(&s)[3]) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto j = static_cast<std::ptrdiff_t>(i);
      const auto visit = [&](auto&& each) {
        std::size_t place = 0;
        kernels::for_each_element(inside, [&](std::ptrdiff_t f, std::ptrdiff_t v) {
          if (visible.data[o[2] + j * s[2] + v]) { each(x.data[o[1] + j * s[1] + f], place); }
          ++place;
        });
      };
      to.data[o[0] + j * s[0]] = total_of<How, compute_t<C, T>, R>(visit);
    }
  });
}

template <class E>
inline constexpr bool is_masked_node = false;
template <class Shape, class E, class M>
inline constexpr bool is_masked_node<masked_node<Shape, E, M>> = true;

template <class C, class Shape, class T, class How, class Over, class E>
bool compute(const reduction<Shape, T, How, Over, E>& n, target<compute_t<C, T>> to) {
  if constexpr (is_masked_node<E>) {
    reduce_masked<C>(n, to);
  } else {
    using R = compute_t<C, value_of<E>>;
    const auto x = lower<C>(n.template child<0>());
    const row_loops<axes_for<Shape>, axes_for<shape_of<E>>, axes_of_list_t<Over>> loops(to.axes, x.axes);
    if (reduction_is_done<reduction<Shape, T, How, Over, E>>(loops, to.data, x.data)) { return true; }
    kernels::for_each_element(loops.outside, [&](std::ptrdiff_t t, std::ptrdiff_t f) {
      const auto visit = [&](auto&& each) {
        std::size_t place = 0;
        kernels::for_each_element(loops.inside, [&](std::ptrdiff_t, std::ptrdiff_t g) {
          const R value = x.data[f + g];
          const bool hidden = is_masked<E> && value == static_cast<R>(kernels::minus_infinity<C>);
          if (!hidden) { each(value, place); }
          ++place;
        });
      };
      to.data[t] = total_of<How, compute_t<C, T>, R>(visit);
    });
  }
  return false;
}

// Where a part of a sum is written: how far from the first element of the whole; `destination` is given its axes.
template <class D, class Whole, class ResultAxes, class X>
std::ptrdiff_t place_of_part(const X& x, const axis* to, extent_t before, axis* destination) {
  constexpr std::size_t at = index_in<Whole, ResultAxes>;
  using part_axes = typename axes_of<D>::type;
  using axes = replace_t<ResultAxes, Whole, part_axes>;
  axis sizes[max_rank];
  axis_extents<axes>::write(x.extents(), sizes);
  axis all[max_rank];
  for (std::size_t i = 0; i < at; ++i) { all[i] = to[i]; }
  std::ptrdiff_t stride = to[at].stride;
  for (std::size_t i = at + part_axes::size; i-- > at;) {
    all[i] = {sizes[i].extent, stride};
    stride = times(stride, sizes[i].extent);
  }
  for (std::size_t i = at + 1; i < ResultAxes::size; ++i) { all[i + part_axes::size - 1] = to[i]; }
  std::ptrdiff_t strides[max_rank] = {};
  using own = axes_for<shape_of<X>>;
  align<own, axes>(all, strides);
  axis_extents<own>::write(x.extents(), destination);
  for (std::size_t i = 0; i < own::size; ++i) { destination[i].stride = strides[i]; }
  return times(to[at].stride, before);
}

// Calls into(part, offset of its first element, its axes) for every part of a result with the axes `to`.
template <class Shape, class Whole, class... P, class... X, class Into, std::size_t... I>
void each_joined(const joined<Shape, Whole, list<P...>, X...>& n, const axis* to, const Into& into,
                 std::index_sequence<I...>) {
  extent_t before = 0;
  axis destination[max_rank];
  std::ptrdiff_t offset = 0;
  ((offset = place_of_part<P, Whole, axes_for<Shape>>(n.template child<I>(), to, before, destination),
    into(n.template child<I>(), offset, destination), before += n.template child<I>().extents().template extent<P>()),
   ...);
}
template <class C, class Shape, class Whole, class Parts, class... X>
void compute(const joined<Shape, Whole, Parts, X...>& n, target<compute_t<C, std::common_type_t<value_of<X>...>>> to) {
  const auto into = [&](const auto& part, std::ptrdiff_t offset, const axis* axes) {
    compute_into<C>(part, {to.data + offset, axes});
  };
  each_joined(n, to.axes, into, std::index_sequence_for<X...>{});
}

template <class Shape, class X>
std::ptrdiff_t place_of_layer(const X& x, const axis* to, std::size_t number, axis* destination) {
  using own = axes_for<shape_of<X>>;
  std::ptrdiff_t strides[max_rank] = {};
  align<own, axes_for<Shape>>(to, strides);
  axis_extents<own>::write(x.extents(), destination);
  for (std::size_t i = 0; i < own::size; ++i) { destination[i].stride = strides[i]; }
  return times(to[0].stride, number);
}
template <class Shape, class D, class... X, class Into, std::size_t... I>
void each_stacked(const stacked<Shape, D, X...>& n, const axis* to, const Into& into, std::index_sequence<I...>) {
  axis destination[max_rank];
  std::ptrdiff_t offset = 0;
  ((offset = place_of_layer<Shape>(n.template child<I>(), to, I, destination),
    into(n.template child<I>(), offset, destination)),
   ...);
}
template <class C, class Shape, class D, class... X>
void compute(const stacked<Shape, D, X...>& n, target<compute_t<C, std::common_type_t<value_of<X>...>>> to) {
  const auto into = [&](const auto& layer, std::ptrdiff_t offset, const axis* axes) {
    compute_into<C>(layer, {to.data + offset, axes});
  };
  each_stacked(n, to.axes, into, std::index_sequence_for<X...>{});
}

// ---- the two entries ------------------------------------------------------------------------------------------------

// The one place that counts what runs plainly: a node that a kernel may take says whether one took it.
inline void count_unless(bool by_kernel) {
  if (!by_kernel) { count_plan(plan_kind::plain); }
}
template <class C, class N, class T>
void run_node(const N& n, target<T> to) {
  if constexpr (std::is_void_v<decltype(compute<C>(n, to))>) {
    compute<C>(n, to);
    count_unless(is_constant<N>);
  } else {
    count_unless(compute<C>(n, to));
  }
}

template <class C, class N>
lowered<compute_t<C, value_of<N>>> lower(const N& n) {
  using T = compute_t<C, value_of<N>>;
  if constexpr (is_leaf<N>) {
    return lower_leaf<T>(n);
  } else if constexpr (only_looks<N>) {
    return look_at<C, N>::lower_it(n);
  } else {
    auto buffer = buffer_for<T>(n);
    run_node<C>(n, target_of(buffer, n));
    return buffer;
  }
}

template <class C, class N>
void compute_into(const N& n, target<compute_t<C, value_of<N>>> to) {
  if constexpr (only_looks<N>) {
    const auto x = lower<C>(n);
    copy_axes<compute_t<C, value_of<N>>>(axes_for<shape_of<N>>::size, x.axes, to.axes, x.axes, to.data, x.data);
  } else {
    run_node<C>(n, to);
  }
}

// Weights whose hidden elements are −0.
template <class C, class N>
struct weights_of;
template <class C, class Shape, class Over, class E>
struct weights_of<C, rowwise<Shape, rows::softmax, Over, E>> {
  static auto get(const rowwise<Shape, rows::softmax, Over, E>& n) {
    auto buffer = buffer_for<C>(n);
    count_unless(compute_rows<C>(n, target_of(buffer, n), C(-0.0)));
    return buffer;
  }
};
template <class C, class Shape, class How, class E>
struct weights_of<C, restride<Shape, How, E>> {
  static auto get(const restride<Shape, How, E>& n) {
    auto x = lower_weights<C>(n.template child<0>());
    look_otherwise(x, n);
    return x;
  }
};
template <class C, class N>
lowered<C> lower_weights(const N& n) {
  return weights_of<C, N>::get(n);
}

}  // namespace dimwise::detail

// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/attention/numbers.hpp -- what the chain of scores says in numbers: scale, soft cap, window.
//
// Layer: eval. They are known before anything is read, so that a plan knows them, too.
// Tests: tests/eval/attention/scores.test.cpp
#pragma once

#include <dimwise/eval/attention/match.hpp>
#include <dimwise/kernels/dispatch/table.hpp>
#include <dimwise/support/math.hpp>

namespace dimwise::detail {

template <class E>
inline constexpr bool is_tanh = false;
template <class Shape, class T, class E>
inline constexpr bool is_tanh<elementwise<Shape, T, fn::tanh, E>> = true;

// Masks that show each query a range of keys; not of positions that are other distances apart.
template <class M>
inline constexpr bool knows_window = true;
template <class Q, class K>
inline constexpr bool knows_window<causal<Q, K>> = position_step<Q> == position_step<K>;
template <class Q, class K>
inline constexpr bool knows_window<window<Q, K>> = position_step<Q> == 1 && position_step<K> == 1;

// Which keys the chain of scores shows, and whether the kernel may compute it.
struct score_window {
  bool in_order = true;  // what is done to scores gives the same in the kernel's order: the scale first, the mask last
  kernels::key_window window{};

  void keep_order(bool kept) { in_order = in_order && kept; }
  // Shows the keys from `first` to `last` places after the place of a query, of those that it has shown. No window
  // reaches further than `unbounded`, and positions are no further than 2^60 from 0: nothing here overflows.
  static constexpr std::ptrdiff_t all = kernels::key_window::unbounded;
  void narrow(std::ptrdiff_t first, std::ptrdiff_t last) {
    const auto within = [](std::ptrdiff_t place) { return place < -all ? -all : place > all ? all : place; };
    if (-within(first) < window.before) { window.before = -within(first); }
    if (within(last) < window.after) { window.after = within(last); }
  }
};

// The numbers of the chain of scores, which every kernel takes.
template <class C, class Window = score_window>
struct score_numbers_of : Window {
  C scale = 1;
  C cap = 0;

  // Queries times a scale of NaN, or so small that they vanish, are not scores times it: the scalar path
  // take over.
  [[nodiscard]] bool fit() const {
    return this->in_order && (scale == 0 || math::isnormal(scale)) && (cap == 0 || math::isnormal(cap));
  }
  // Factors that are not 0 may vanish together.
  void scale_by(C c, C product) {
    this->keep_order(product != 0 || scale == 0 || c == 0);
    scale = product;
  }
};
using score_numbers = score_numbers_of<float>;

// Key j of stripes as far apart as the queries' is visible to query i if j is at most i and what the origins differ by.
template <class Q, class K, class E>
  requires knows_window<causal<Q, K>>
void take_window(score_window& to, const causal<Q, K>& m, const E& e) {
  to.narrow(-score_window::all,
            floor_quotient(m.query_origin(e, "causal") - m.key_origin(e, "causal"), position_step<Q>));
}
template <class Q, class K, class E>
  requires knows_window<window<Q, K>>
void take_window(score_window& to, const window<Q, K>& m, const E& e) {
  const std::ptrdiff_t place = m.query_origin(e, "window") - m.key_origin(e, "window");
  // A limit that reaches from one end of the positions to the other is none.
  constexpr std::ptrdiff_t all = score_window::all;
  to.narrow(m.left() < 0 || m.left() > 4 * all ? -all : place - m.left(),
            m.right() < 0 || m.right() > 4 * all ? all : place + m.right());
}

// How they are collected from the nodes of a chain, for plans of the compiler (eval/plan/static.hpp).
template <class Self>
struct score_pieces {
  Self& self() { return static_cast<Self&>(*this); }

  template <class M, class E>
  void take(const M& m, const E& e) {
    take_window(self(), m, e);
  }
  template <class A, class B, class E>
  void take(const mask_pair<all_of, A, B>& m, const E& e) {
    self().take(m.left(), e);
    self().take(m.right(), e);
  }

  template <class Shape, class Over, class A, class B>
  void collect(const contraction<Shape, Over, A, B>&) {}
  template <class Shape, class E>
  void collect(const with_marks<Shape, E>& n) {
    self().collect(n.template child<0>());
  }
  template <class Shape, class T, class E, class U>
  void collect(const elementwise<Shape, T, fn::multiply, E, constant<U>>& n) {
    times(n.template child<0>(), static_cast<float>(n.template child<1>().op().value));
  }
  template <class Shape, class T, class E, class U>
  void collect(const elementwise<Shape, T, fn::multiply, constant<U>, E>& n) {
    times(n.template child<1>(), static_cast<float>(n.template child<0>().op().value));
  }
  template <class E>
  void times(const E& n, float c) {
    if constexpr (is_tanh<E>) {
      // c · tanh(s): the kernel's cap divides by c before tanh.
      self().collect(n.template child<0>());
      self().cap = c;
      self().keep_order(c != 0);
    } else {
      self().collect(n);
      self().keep_order(!is_masked<E> || c > 0);  // what is masked stays −∞
    }
    self().scale_by(c, self().scale * c);
  }
  template <class Shape, class T, class E, class U>
  void collect(const elementwise<Shape, T, fn::divide, E, constant<U>>& n) {
    const float c = static_cast<float>(n.template child<1>().op().value);
    self().collect(n.template child<0>());
    self().keep_order(!is_masked<E> || c > 0);
    self().scale_by(1 / c, self().scale / c);
  }
  template <class Shape, class E, class M>
  void collect(const masked_node<Shape, E, M>& n) {
    self().collect(n.template child<0>());
    self().take(n.template child<1>(), n.extents());
  }
};
struct plain_score_pieces : score_numbers, score_pieces<plain_score_pieces> {};

}  // namespace dimwise::detail

// SPDX-License-Identifier: BSL-1.0
// dimwise/ranks/attention/ring_scores.hpp -- a formula of scores taken apart: its queries, its keys, and the same
// formula over the keys of another rank.
//
// Layer: ranks. Types decide what can be taken apart; masks decide by positions what need not be computed.
// Tests: tests/ranks/attention/ring_attention.test.cpp
#pragma once

#include <dimwise/expr/masks/mask.hpp>
#include <dimwise/expr/products/contract.hpp>
#include <dimwise/expr/untracked.hpp>

#include <utility>

namespace dimwise::detail {

template <class Key, class X>
inline constexpr bool has_key = false;
template <class Key, operand X>
inline constexpr bool has_key<Key, X> = is_in<Key, dims_t<shape_of<X>>>;
// Masks that hold elements along Key: they are those of this rank's keys alone.
template <class Key, class X>
inline constexpr bool brings_key = false;
template <class Key, mask_like M>
inline constexpr bool brings_key<Key, M> = is_in<Key, typename brought<M>::type>;
// Keys: nothing else of them is divided along the same mesh axis.
template <class Key, class X>
inline constexpr bool is_block_of_keys = false;
template <class Key, operand X>
  requires(has_key<Key, X>)
inline constexpr bool is_block_of_keys<Key, X> =
    is_disjoint<mesh_axes_t<Key>, mesh_axes_of_list_t<difference_t<dims_t<shape_of<X>>, list<Key>>>>;

// A formula that holds one product of queries and keys, and steps that read the scores element by element.
template <class Key, class N>
struct ring_scores {
  static constexpr bool matches = false;
  static constexpr bool tracks_others = true;
};

template <class Key, class... X>
consteval std::size_t place_of_key() {
  std::size_t i = 0;
  (void)((has_key<Key, X> || (++i, false)) || ...);
  return i;
}
template <class Key, class... X>
consteval bool is_ring_step() {
  if constexpr ((std::size_t{has_key<Key, X>} + ... + 0) != 1 || (brings_key<Key, X> || ...)) {
    return false;
  } else {
    return ring_scores<Key, element_t<place_of_key<Key, X...>(), list<X...>>>::matches;
  }
}

template <class Key, class Extents, class K>
Extents extents_of_block([[maybe_unused]] Extents e, [[maybe_unused]] const K& k) {
  if constexpr (has_slot<Key>) { e.template of_atom<Key>() = k.extents().template of_atom<Key>(); }
  return e;
}

template <class Key, class Op, class Shape, class T, class... X>
  requires(is_ring_step<Key, X...>())
struct ring_scores<Key, node<Op, Shape, T, X...>> {
  using N = node<Op, Shape, T, X...>;
  static constexpr std::size_t at = place_of_key<Key, X...>();
  using next = ring_scores<Key, element_t<at, list<X...>>>;
  using query_type = typename next::query_type;
  using key_type = typename next::key_type;
  static constexpr bool matches = true;
  // Whether something beside queries and keys is tracked.
  static constexpr bool tracks_others = next::tracks_others || (std::size_t{is_tracked<X>} + ... + 0) >
                                                                   std::size_t{is_tracked<element_t<at, list<X...>>>};

  static const auto& queries(const N& n) { return next::queries(n.template child<at>()); }
  static const auto& keys(const N& n) { return next::keys(n.template child<at>()); }
  // The same formula of `q` and `k`.
  template <class Q, class K>
  static auto with(const N& n, const Q& q, const K& k) {
    return with(n, q, k, std::index_sequence_for<X...>{});
  }

 private:
  template <std::size_t I, class Q, class K>
  static decltype(auto) child(const N& n, const Q& q, const K& k) {
    if constexpr (I == at) {
      return next::with(n.template child<at>(), q, k);
    } else {
      return (n.template child<I>());
    }
  }
  template <class Q, class K, std::size_t... I>
  static auto with(const N& n, const Q& q, const K& k, std::index_sequence<I...>) {
    return make_node<Shape, T>(Op(n.op()), extents_of_block<Key>(n.extents(), k), child<I>(n, q, k)...);
  }
};
template <class Key, class Shape, class T, class Over, class A, class B>
  requires(is_block_of_keys<Key, A> != is_block_of_keys<Key, B> && has_key<Key, A> != has_key<Key, B>)
struct ring_scores<Key, node<product_over<Over>, Shape, T, A, B>> {
  using N = node<product_over<Over>, Shape, T, A, B>;
  static constexpr std::size_t at = has_key<Key, B> ? 1 : 0;
  using query_type = element_t<1 - at, list<A, B>>;
  using key_type = element_t<at, list<A, B>>;
  static constexpr bool matches = true;
  static constexpr bool tracks_others = false;

  static const auto& queries(const N& n) { return n.template child<1 - at>(); }
  static const auto& keys(const N& n) { return n.template child<at>(); }
  template <class Q, class K>
  static auto with(const N& n, const Q& q, const K& k) {
    const auto e = extents_of_block<Key>(n.extents(), k);
    if constexpr (at == 1) {
      return make_node<Shape, T>(product_over<Over>{}, e, q, k);
    } else {
      return make_node<Shape, T>(product_over<Over>{}, e, k, q);
    }
  }
};

// ---- what masks show ------------------------------------------------------------------------------------------------

// The last position of D, which has elements.
template <class D, class Extents>
std::ptrdiff_t last_position(const Extents& e, std::ptrdiff_t first) {
  return first + static_cast<std::ptrdiff_t>(e.template extent<D>() - 1) * position_step<D>;
}
// Whether a mask may show some key to some query: false only if it hides all of them.
template <class M, class Extents>
bool may_show(const M&, const Extents&) {
  return true;
}
template <class Q, class K, class Extents>
bool may_show(const causal<Q, K>& m, const Extents& e) {
  return m.key_origin(e, m.name) <= last_position<Q>(e, m.query_origin(e, m.name));
}
template <class Q, class K, class Extents>
bool may_show(const prefix<Q, K>& m, const Extents& e) {
  const std::ptrdiff_t key = m.key_origin(e, m.name);
  return key < m.length() || key <= last_position<Q>(e, m.query_origin(e, m.name));
}
template <class Q, class K, class Extents>
bool may_show(const window<Q, K>& m, const Extents& e) {
  const std::ptrdiff_t query = m.query_origin(e, m.name), key = m.key_origin(e, m.name);
  return (m.left() < 0 || query - last_position<K>(e, key) <= m.left()) &&
         (m.right() < 0 || key - last_position<Q>(e, query) <= m.right());
}
template <class A, class B, class Extents>
bool may_show(const mask_pair<all_of, A, B>& m, const Extents& e) {
  return may_show(m.left(), e) && may_show(m.right(), e);
}
template <class A, class B, class Extents>
bool may_show(const mask_pair<any_of, A, B>& m, const Extents& e) {
  return may_show(m.left(), e) || may_show(m.right(), e);
}

// Whether the scores may have an element that no mask hides.
template <class Key, class N>
bool may_show_any(const N& n) {
  bool shown = size_of(n) > 0;
  if constexpr (children_t<N>::size > 0) {
    if (shown) {
      n.each_child([&](const auto& x) {
        using X = std::remove_cvref_t<decltype(x)>;
        if constexpr (mask_like<X>) {
          shown = shown && may_show(x, n.extents());
        } else if constexpr (has_key<Key, X> && !is_product<N>) {
          shown = shown && may_show_any<Key>(x);
        }
      });
    }
  }
  return shown;
}

[[noreturn]] inline void throw_said_origins(name_of key) {
  raise<origin_error>(
      error{} << "ring_attention: a mask or a bias says where " << key()
              << " begins, and the blocks of other ranks begin elsewhere; leave it to the extents (R24)");
}
// A mask around another one. Operands reject the name of NumPy, which is an error where it is only asked for.
template <class X>
concept holds_a_mask = !operand<X> && requires(const X& x) { x.inner(); };
// Masks and biases take the positions of each block from its extents.
template <class Key, class X>
void check_origins_of_parts(const X& x) {
  if constexpr (requires { x.says_origins(); }) {
    if (x.says_origins()) { throw_said_origins(&dimension_name<Key>); }
  } else if constexpr (requires {
                         typename X::how;
                         x.left();
                       }) {
    check_origins_of_parts<Key>(x.left());
    check_origins_of_parts<Key>(x.right());
  } else if constexpr (holds_a_mask<X>) {
    check_origins_of_parts<Key>(x.inner());
  } else if constexpr (children_t<X>::size > 0 && !is_product<X>) {
    x.each_child([](const auto& child) { check_origins_of_parts<Key>(child); });
  }
}

}  // namespace dimwise::detail

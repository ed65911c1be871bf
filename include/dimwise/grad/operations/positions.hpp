// SPDX-License-Identifier: BSL-1.0
// dimwise/grad/operations/positions.hpp -- the adjoints of masks, biases, rotary positions and skew.
//
// Layer: grad.
// Tests: tests/grad/operations/rows.test.cpp, tests/grad/operations/views.test.cpp
#pragma once

#include <dimwise/eval/lowering/relative_ids.hpp>
#include <dimwise/grad/operations/send.hpp>

namespace dimwise::detail {

// ---- masks and biases -----------------------------------------------------------------------------------------------

template <class Shape, class T, class E, class M>
struct adjoint_of<node<hide, Shape, T, E, M>> {
  template <class C>
  static constexpr adjoint_function<C>* of_records = &send_masked<C>;
};
template <class Shape, class T, class E, class B>
struct adjoint_of<node<add_bias, Shape, T, E, B>> {
  template <class C>
  static constexpr adjoint_function<C>* of_records = &send_biased<C>;
};
template <class Shape, class T, class E, class B>
struct adjoint_of<node<add_position_bias, Shape, T, E, B>> {
  template <class C>
  static constexpr adjoint_function<C>* of_records = &send_biased<C>;
  // `e` are the extents of the scores, `g` has the dimensions of the bias.
  template <class Extents, class G>
  static void send_to_bias(const Extents& e, const B& b, const G& g) {
    send_to_table(e, g, b);
  }

 private:
  // The table was read by the distances' ids.
  template <class Extents, class G, class Q, class K, class R, class Table, class Bucket>
  static void send_to_table(const Extents& e, const G& g, const relative_bias_of<Q, K, R, Table, Bucket>& b) {
    if constexpr (is_tracked<Table>) {
      using ids_type = tensor<id<R>, Q, K>;
      auto ids = ids_type::for_overwriting(merge_extents<typename ids_type::extents_type::atoms>("gradient", e));
      const std::ptrdiff_t first = b.key_origin(e, "relative_bias") - b.query_origin(e, "relative_bias");
      const extent_t buckets = b.table().extents().template extent<R>();
      auto* to = ids.overwrite();
      for (std::size_t q = 0; q < e.template extent<Q>(); ++q) {
        for (std::size_t k = 0; k < e.template extent<K>(); ++k) {
          *to++ = id<R>(b.bucket()(first + static_cast<std::ptrdiff_t>(k) - static_cast<std::ptrdiff_t>(q), buckets));
        }
      }
      using shape = gradient_shape<Table>;
      send_gradient(b.table(), gather_back_node<shape, R, G, ids_type>(
                                   {}, extents_from<shape>("gradient", b.table().extents()), g, ids));
    }
  }
};

// ---- positions ------------------------------------------------------------------------------------------------------

// Turned by the opposite angles.
template <class Shape, class T, class P, class F, class Pairs, class E, class... Angles>
struct adjoint_of<node<turned<P, F, Pairs>, Shape, T, E, Angles...>> {
  using N = node<turned<P, F, Pairs>, Shape, T, E, Angles...>;
  static_assert(!(is_tracked<Angles> || ...), "dimwise: cosines and sines of rotary are constants (R21)");
  template <class G>
  static void send(const N& n, const G& g) {
    send(n, g, std::index_sequence_for<Angles...>{});
  }

 private:
  template <class G, std::size_t... I>
  static void send(const N& n, const G& g, std::index_sequence<I...>) {
    auto op = n.op();
    op.backwards = true;
    const auto e = extents_from<shape_of<G>>("gradient", n.extents());
    send_gradient(n.template child<0>(), node<turned<P, F, Pairs>, shape_of<G>, value_of<G>, G, Angles...>(
                                             op, e, g, n.template child<1 + I>()...));
  }
};
template <class Shape, class T, class Q, class R, class K, class E>
struct adjoint_of<node<skewed<Q, R, K>, Shape, T, E>> {
  using N = node<skewed<Q, R, K>, Shape, T, E>;
  template <class G>
  static void send(const N& n, const G& g) {
    using shape = gradient_shape<E>;
    const auto& x = n.template child<0>();
    const std::ptrdiff_t first = n.extents().template origin<K>("skew") - n.extents().template origin<Q>("skew") -
                                 x.extents().template origin<R>("skew");
    send_gradient(
        x, make_node<shape, value_of<G>>(skew_back<Q, R, K>{first}, extents_from<shape>("gradient", x.extents()), g));
  }
};

}  // namespace dimwise::detail

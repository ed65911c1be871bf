// tests/laws/shapes.test.cpp -- laws of the rules themselves, over every pair of a list of shapes.
//
// Types alone: what one rule says of a pair, it says of the pair in another order, under other names, and beside one
// more batch. Meaning goes by name, so each law holds for all of them, accepted or refused.
// SPDX-License-Identifier: BSL-1.0
#include "shape/vocabulary.hpp"

#include <doctest/doctest.h>

namespace law_shapes {
namespace {

using namespace shape_test;
using detail::dims_t;
using detail::marks_t;
using detail::same_set;

struct rot : feature_dim<4> {};
struct pass : feature_dim<8> {};
struct examples : batch_dim<> {};

// Activations, weights, scores, attention weights, composites, marks of every kind.
using shapes =
    list<shape<>, shape<seq>, shape<batch, seq, d_model>, shape<d_model, heads, d_k>, shape<d_model, out<d_model>>,
         shape<heads, d_v, d_model>, shape<batch, key, heads, d_k>, shape<batch, seq, heads, d_k>,
         shape<seq, d_k, rotated<d_k, seq>>, shape<seq, summed<rot, pass>, rotated<rot, seq>>,
         shape<batch, heads, seq, key, raw<d_k>>, shape<batch, heads, seq, key, score<d_k>, masked_for<key>>,
         shape<batch, heads, seq, key, normalised<key>>, shape<seq, key, weighted<key>>,
         shape<key, src, normalised<src>>, shape<heads, more_heads>, shape<vocab, d_model>,
         shape<seq, vocab, normalised<vocab>>, shape<batch, experts, normalised<experts>>, shape<packed_key, d_k>,
         shape<packed_seq, packed_key, normalised<packed_key>>, shape<batch, d_model, indexed<seq>>,
         shape<merged<batch, heads>, seq, d_k>>;
// What a product may go over.
using overs = list<list<d_k>, list<d_model>, list<key>, list<seq>, list<heads>, list<heads, d_v>, list<vocab>,
                   list<experts>, list<packed_key>, list<merged<heads, d_k>>, list<>>;

template <class... S>
consteval std::size_t size_of(list<S...>) {
  return sizeof...(S);
}

// Two shapes are one up to the order in memory.
template <class A, class B>
inline constexpr bool same = false;
template <class... A, class... B>
inline constexpr bool same<shape<A...>, shape<B...>> =
    same_set<dims_t<shape<A...>>, dims_t<shape<B...>>> && std::is_same_v<marks_t<shape<A...>>, marks_t<shape<B...>>>;

// Two verdicts agree: both no, or both yes and the same shape.
template <class X, class Y>
consteval bool agree() {
  if constexpr (allowed<X> && allowed<Y>) {
    return same<typename X::shape, typename Y::shape>;
  } else {
    return refused<X> && refused<Y>;
  }
}

template <class Law, class... A>
consteval bool all_of(list<A...>) {
  return (Law::template holds<A>() && ...);
}
template <class Over, class A, class B>
inline constexpr bool both_have = detail::is_subset<Over, dims_t<A>> && detail::is_subset<Over, dims_t<B>>;

// The law holds for every pair and everything that the two could be contracted over, or multiplied without it.
template <class Law, class A, class B, class... O>
consteval bool all_overs(list<O...>) {
  return ([] {
    if constexpr (both_have<O, A, B>) {
      return Law::template holds<O, A, B>();
    } else {
      return true;
    }
  }() && ...);
}
template <class Law>
consteval bool all_pairs(list<>) {
  return true;
}
template <class Law, class First, class... Rest>
consteval bool all_pairs(list<First, Rest...>) {
  return all_overs<Law, First, First>(overs{}) && (all_overs<Law, First, Rest>(overs{}) && ...) &&
         all_pairs<Law>(list<Rest...>{});
}

template <class Over, class A, class B>
using product = rule::contract<Over, list<>, A, B>;

// contract(a, b) and contract(b, a) are the same.
struct commutes {
  template <class Over, class A, class B>
  static consteval bool holds() {
    return agree<product<Over, A, B>, product<Over, B, A>>();
  }
};
static_assert(all_pairs<commutes>(shapes{}));

// One more batch on either side, or on both, changes nothing else.
template <class Batch, class Shape>
struct lifted;
template <class Batch, class... T>
struct lifted<Batch, shape<T...>> {
  using type = shape<Batch, T...>;
};
template <class Verdict>
struct lifted_verdict {
  using type = Verdict;
};
template <class Shape>
struct lifted_verdict<accepted<Shape>> {
  using type = accepted<typename lifted<examples, Shape>::type>;
};
struct lifts {
  template <class Over, class A, class B>
  static consteval bool holds() {
    using both = product<Over, typename lifted<examples, A>::type, typename lifted<examples, B>::type>;
    return agree<typename lifted_verdict<product<Over, A, B>>::type, both>();
  }
};
static_assert(all_pairs<lifts>(shapes{}));

// The order of the dimensions in memory changes nothing: the last dimension put first.
template <class Shape>
struct turned {
  template <class... D>
  static auto last(list<D...>) -> detail::element_t<sizeof...(D) - 1, list<D...>>;
  template <class Dims>
  static auto turn(Dims d) -> detail::make_shape_t<
      detail::join_t<list<decltype(last(d))>, detail::difference_t<Dims, list<decltype(last(d))>>>, marks_t<Shape>>;
  static auto pick() {
    if constexpr (dims_t<Shape>::size == 0) {
      return std::type_identity<Shape>{};
    } else {
      return std::type_identity<decltype(turn(dims_t<Shape>{}))>{};
    }
  }
  using type = typename decltype(pick())::type;
};
struct ignores_order {
  template <class Over, class A, class B>
  static consteval bool holds() {
    return agree<product<Over, A, B>, product<Over, typename turned<A>::type, typename turned<B>::type>>() &&
           (Over::size > 0 || (agree<rule::elementwise<A, B>, rule::elementwise<B, A>>() &&
                               agree<rule::elementwise<A, B>, rule::elementwise<typename turned<A>::type, B>>()));
  }
};
static_assert(all_pairs<ignores_order>(shapes{}));

// rename there and back, merge and split, broadcast and at: the shape is the one before.
struct round_trips {
  template <class A, class B, class Shape>
  static consteval bool renamed() {
    using there = rule::rename<A, B, Shape>;
    if constexpr (allowed<there>) {
      return agree<rule::rename<B, A, typename there::shape>, accepted<Shape>>();
    } else {
      return true;
    }
  }
  template <class A, class B, class Shape>
  static consteval bool merged_and_split() {
    using there = rule::merge<Shape, A, B>;
    if constexpr (allowed<there>) {
      return agree<rule::split<typename there::shape, A, B>, accepted<Shape>>();
    } else {
      return true;
    }
  }
  template <class Shape>
  static consteval bool holds() {
    return renamed<seq, key, Shape>() && renamed<key, seq, Shape>() && renamed<d_model, out<d_model>, Shape>() &&
           renamed<heads, more_heads, Shape>() && merged_and_split<heads, d_k, Shape>() &&
           merged_and_split<d_k, heads, Shape>() && merged_and_split<batch, heads, Shape>() &&
           agree<rule::permute<dims_t<typename turned<Shape>::type>, Shape>, accepted<Shape>>();
  }
};
static_assert(all_of<round_trips>(shapes{}));

// Contraction is associative where the paper says so: (a · b) · c = a · (b · c) if what is summed second is not in a,
// and what is summed first is not in c (Chiang, Rush and Barak, Named Tensor Notation). Products that end in a mark are
// none.
template <class D, class E, class A, class B, class C>
consteval bool associative() {
  using ab = product<list<D>, A, B>;
  using bc = product<list<E>, B, C>;
  if constexpr (allowed<ab> && allowed<bc>) {
    return agree<product<list<E>, typename ab::shape, C>, product<list<D>, A, typename bc::shape>>();
  } else {
    return false;
  }
}
static_assert(associative<d_model, d_ff, shape<batch, seq, d_model>, shape<d_model, d_ff>, shape<d_ff, d_v>>());
static_assert(
    associative<d_model, d_k, shape<batch, seq, d_model>, shape<d_model, heads, d_k>, shape<heads, d_k, d_v>>());
static_assert(associative<key, d_v, shape<heads, seq, key, normalised<key>>, shape<key, heads, d_v>,
                          shape<heads, d_v, d_model>>());
static_assert(associative<src, key, shape<src, d_v>, shape<heads, key, src, normalised<src>>,
                          shape<heads, seq, key, normalised<key>>>());

TEST_CASE("laws of the rules, over pairs of shapes") {
  CHECK(size_of(shapes{}) == 23);
  CHECK(all_of<round_trips>(shapes{}));
}

}  // namespace
}  // namespace law_shapes

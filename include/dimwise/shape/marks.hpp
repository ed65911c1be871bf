// SPDX-License-Identifier: BSL-1.0
// dimwise/shape/marks.hpp -- marks: the state of a tensor that rules check, part of its type in canonical order.
//
// Layer: shape. Types in, types out.
// Tests: tests/shape/marks.test.cpp
//
//   tensor<float, heads, seq, key, normalised<key>> a = softmax<key>(…);
#pragma once

#include <dimwise/dim/derived.hpp>
#include <dimwise/dim/shard.hpp>
#include <dimwise/support/list.hpp>
#include <dimwise/support/name.hpp>

namespace dimwise {

/// An unscaled product over the features D; softmax and `biased` reject it (R6).
template <class... D>
struct raw {};
/// Scores: a scaled product over the features D, or one declared `unscaled` (R6).
template <class... D>
struct score {};
/// Masked for a softmax or reduction over one of D (R7).
template <class... D>
struct masked_for {};
/// The sum with a bias that varies along D: a softmax must go over one of D (R7).
template <class... D>
struct biased_for {};
/// Sums to one over D: attention weights, probabilities (R5).
template <class... D>
struct normalised {};
/// A product with weights that are normalised over D: reductions may only go over D (R5).
template <class... D>
struct weighted {};
/// The logarithm of values that are `normalised<D…>`: their exponentials sum to one over D (R5, R22).
template <class... D>
struct log_normalised {};
/// `rotated<F, P>`: rotary rotated the feature F by positions of P without primes: queries over `seq` and keys over
/// `prime<seq>` both have `seq` (R9).
template <class... FeatureAndPositions>
struct rotated {};
/// One element of D, selected by `at<D>`; it combines with a tensor over D only through `broadcast` (R18).
template <class... D>
struct indexed {};
/// One term of a sum over the ranks along the mesh axis M: a reduction along M adds the terms of all ranks (R23).
template <class... M>
struct partial {};

namespace detail {

template <class T>
inline constexpr int mark_order = -1;
#define DIMWISE_DETAIL_ORDERED(mark, place) \
  template <class... D>                     \
  inline constexpr int mark_order<mark<D...>> = place;
DIMWISE_DETAIL_ORDERED(raw, 0)
DIMWISE_DETAIL_ORDERED(score, 1)
DIMWISE_DETAIL_ORDERED(masked_for, 2)
DIMWISE_DETAIL_ORDERED(biased_for, 3)
DIMWISE_DETAIL_ORDERED(normalised, 4)
DIMWISE_DETAIL_ORDERED(weighted, 5)
DIMWISE_DETAIL_ORDERED(log_normalised, 6)
DIMWISE_DETAIL_ORDERED(rotated, 7)
DIMWISE_DETAIL_ORDERED(indexed, 8)
DIMWISE_DETAIL_ORDERED(partial, 9)
#undef DIMWISE_DETAIL_ORDERED
template <class T>
inline constexpr bool is_mark = mark_order<T> >= 0;

template <class A, class B>
consteval bool mark_before() {
  if constexpr (mark_order<A> != mark_order<B>) {
    return mark_order<A> < mark_order<B>;
  } else {
    return name_before<A, B>();
  }
}

// Insertion into a sorted list; lists of marks are short.
template <class Done, class M, class... Rest>
struct insert_mark;
template <class... Done, class M>
struct insert_mark<list<Done...>, M> {
  using type = list<Done..., M>;
};
template <class... Done, class M, class... Rest>
struct insert_mark<list<Done...>, M, M, Rest...> {
  using type = list<Done..., M, Rest...>;
};
template <class... Done, class M, class First, class... Rest>
struct insert_mark<list<Done...>, M, First, Rest...>
    : either_t<mark_before<M, First>(), std::type_identity<list<Done..., M, First, Rest...>>,
               insert_mark<list<Done..., First>, M, Rest...>> {};

template <class Sorted, class... M>
struct sort_marks {
  using type = Sorted;
};
template <class... Sorted, class M, class... Rest>
struct sort_marks<list<Sorted...>, M, Rest...> : sort_marks<typename insert_mark<list<>, M, Sorted...>::type, Rest...> {
};
template <class List>
struct canonical_marks;
template <class... M>
struct canonical_marks<list<M...>> : sort_marks<list<>, M...> {};
template <>
struct canonical_marks<list<>> {
  using type = list<>;
};
template <class M>
struct canonical_marks<list<M>> {
  using type = list<M>;
};

// The dimensions of a mark; for `rotated` the feature without the positions.
template <class M>
struct mark_dims;
template <template <class...> class M, class... D>
struct mark_dims<M<D...>> {
  using type = list<D...>;
};
template <class F, class... P>
struct mark_dims<rotated<F, P...>> {
  using type = list<F>;
};
template <class M>
using mark_dims_t = typename mark_dims<M>::type;

// The mark with dimension `Old` renamed to `New`.
template <class M, class Old, class New>
struct rename_in_mark;
template <template <class...> class M, class... D, class Old, class New>
struct rename_in_mark<M<D...>, Old, New> {
  using type = M<either_t<std::is_same_v<D, Old>, New, D>...>;
};

template <class F, class... P, class Old, class New>
struct rename_in_mark<rotated<F, P...>, Old, New> {
  using type = rotated<either_t<std::is_same_v<F, Old>, New, F>, P...>;
};

// The dimension without primes and shards: queries and keys of one sequence are rotated by the same P.
template <class D>
struct unprimed {
  using type = D;
};
template <class D>
  requires(!is_shard<D> && requires { typename D::prime_of; })
struct unprimed<D> : unprimed<typename D::prime_of> {};
template <class D>
  requires is_shard<D>
struct unprimed<D> : unprimed<typename D::shard_of> {};
template <class D>
using unprimed_t = typename unprimed<D>::type;

// Whether a mark is a rotation, and whether its feature is among Features.
template <class M>
inline constexpr bool is_rotation = mark_order<M> == mark_order<rotated<>>;
template <class Features, class M>
inline constexpr bool rotates = false;
template <class Features, class F, class... P>
inline constexpr bool rotates<Features, rotated<F, P...>> = is_in<F, Features>;
template <class Marks, class Features = void>
struct rotations;
template <class... M, class Features>
struct rotations<list<M...>, Features> {
  using type = join_t<list_if<rotates<Features, M>, M>...>;
};
template <class... M>
struct rotations<list<M...>, void> {
  using type = join_t<list_if<is_rotation<M>, M>...>;
};
template <class Marks, class Features = void>
using rotations_t = typename rotations<Marks, Features>::type;

// The kind of this mark with other dimensions; `M<>` is not a mark.
template <template <class...> class M, class Dims>
struct mark_over;
template <template <class...> class M, class... D>
struct mark_over<M, list<D...>> {
  using type = list_if<(sizeof...(D) > 0), M<D...>>;
};

// Sorts names: masked_for<a, b> and masked_for<b, a> are the same mark.
template <class Sorted, class... D>
struct sort_names {
  using type = Sorted;
};
template <class Done, class D, class... Rest>
struct insert_name;
template <class... Done, class D>
struct insert_name<list<Done...>, D> {
  using type = list<Done..., D>;
};
template <class... Done, class D, class First, class... Rest>
struct insert_name<list<Done...>, D, First, Rest...>
    : either_t<name_before<D, First>(), std::type_identity<list<Done..., D, First, Rest...>>,
               insert_name<list<Done..., First>, D, Rest...>> {};
template <class... Sorted, class D, class... Rest>
struct sort_names<list<Sorted...>, D, Rest...> : sort_names<typename insert_name<list<>, D, Sorted...>::type, Rest...> {
};
template <class List>
struct sorted;
template <class... D>
struct sorted<list<D...>> : sort_names<list<>, D...> {};
template <class List>
using sorted_t = typename sorted<List>::type;
// A mark as a list of one, with sorted dimensions.
template <class M>
struct sorted_mark {
  using type = list<M>;
};
template <class A, class B, class... D>
struct sorted_mark<masked_for<A, B, D...>> : mark_over<masked_for, sorted_t<list<A, B, D...>>> {};
template <class A, class B, class... D>
struct sorted_mark<biased_for<A, B, D...>> : mark_over<biased_for, sorted_t<list<A, B, D...>>> {};

// The dimensions of the first mark of this kind in a list of marks; empty if there is none.
template <template <class...> class M, class Marks>
struct dims_marked {
  using type = list<>;
};
template <template <class...> class M, class... D, class... Rest>
struct dims_marked<M, list<M<D...>, Rest...>> {
  using type = join_t<mark_dims_t<M<D...>>, typename dims_marked<M, list<Rest...>>::type>;
};
template <template <class...> class M, class First, class... Rest>
struct dims_marked<M, list<First, Rest...>> : dims_marked<M, list<Rest...>> {};
// All dimensions that marks of this kind speak of.
template <template <class...> class M, class Marks>
using marked_t = typename dims_marked<M, Marks>::type;

}  // namespace detail
}  // namespace dimwise

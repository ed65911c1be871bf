// SPDX-License-Identifier: BSL-1.0
// dimwise/dim/derived.hpp -- dimensions derived from others: prime, out, divided, merged, summed.
//
// Layer: dim. Includes: dim, support.
// Tests: tests/shape/dim.test.cpp, tests/compile_fail/dim/
//
//   struct key : dimwise::prime<seq> {};                     // related to seq, but another dimension
//   struct d_k : dimwise::divided<d_model, heads> {};        // d_model / heads; rejected if not divisible
#pragma once

#include <dimwise/dim/dimension.hpp>
#include <dimwise/dim/extent_math.hpp>
#include <dimwise/support/errors.hpp>
#include <dimwise/support/list.hpp>

namespace dimwise {

/// In an error: a static extent.
template <extent_t Extent>
struct extent;
/// In an error: a run-time extent.
struct run_time;
/// In an error: the dimensions that the operation was given.
template <class... D>
struct over;
/// In an error: a dimension and its extent.
template <class D, class Extent>
struct about;

namespace detail {

template <extent_t N>
struct shown_extent {
  using type = extent<N>;
};
template <>
struct shown_extent<at_run_time> {
  using type = run_time;
};
// A type that is not a dimension has no extent.
template <class D>
struct about_of {
  using type = D;
};
template <class D>
  requires requires { D::static_extent; }
struct about_of<D> {
  using type = about<D, typename shown_extent<D::static_extent>::type>;
};
template <class D>
using about_t = typename about_of<D>::type;

// The product of static extents; an overflow is reported at run time (R15).
constexpr extent_t product(std::initializer_list<extent_t> extents) {
  extent_t all = 1;
  for (const extent_t n : extents) {
    if (n == at_run_time) { return at_run_time; }
  }
  return multiply(extents, all) ? all : at_run_time;
}
constexpr extent_t total(std::initializer_list<extent_t> extents) {
  extent_t all = 0;
  for (const extent_t n : extents) {
    if (n == at_run_time || n > at_run_time - all) { return at_run_time; }
    all += n;
  }
  return all;
}

// The number of blocks of 32 neighbours; the last one may be shorter.
constexpr extent_t block_count(extent_t elements) {
  return elements == at_run_time ? at_run_time : elements / 32 + (elements % 32 != 0 ? 1 : 0);
}

// Feature if one factor is a feature and the others are parallel; otherwise the common abilities.
constexpr ability merged_abilities(std::initializer_list<ability> kinds) {
  ability common = static_cast<ability>(~0U);
  unsigned features = 0;
  bool rest_parallel = true;
  for (const ability a : kinds) {
    common = common & a;
    if (has_any(a, ability::feature)) {
      ++features;
    } else if (!has_any(a, ability::parallel)) {
      rest_parallel = false;
    }
  }
  return features == 1 && rest_parallel ? ability::feature : common;
}
constexpr ability common_abilities(std::initializer_list<ability> kinds) {
  ability common = static_cast<ability>(~0U);
  for (const ability a : kinds) { common = common & a; }
  return common;
}

struct nothing {};

// The condition of a class template's static_assert. Every compiler prints the second argument, which is the error.
template <bool Condition, class Error>
inline constexpr bool holds = Condition;
#if defined(DIMWISE_DETAIL_MESSAGES)
template <class Error>
inline constexpr bool holds<false, Error> = sizeof(Error) > 0;  // asserts its message
#endif

}  // namespace detail

namespace detail {
// An alias, so that compilers print the error with its arguments and not as spelled in the assertion.
template <class A, class B>
using division_error = ERROR_R4_extent_does_not_divide<about_t<A>, about_t<B>>;
}  // namespace detail

/// `B` divides `A`, or one of the extents is a run-time extent.
template <class A, class B>
concept divisible = dimension_type<A> && dimension_type<B> &&
                    (A::static_extent == at_run_time || B::static_extent == at_run_time ||
                     (B::static_extent != 0 && A::static_extent % B::static_extent == 0));

namespace detail {
// A's extent divided by B's. The assertion is in a function: if it failed inside a class, clang would treat the class
// as invalid, drop the bases of derived classes, and report each use.
template <class A, class B>
consteval extent_t quotient() {
  static_assert(holds<divisible<A, B>, division_error<A, B>>, "R4: the extent of a divided dimension does not divide");
  if constexpr (A::static_extent == at_run_time || B::static_extent == at_run_time) {
    return at_run_time;
  } else if constexpr (B::static_extent == 0) {
    return 0;
  } else {
    return A::static_extent / B::static_extent;
  }
}

// The extent of a prime: the given one, or that of its dimension.
template <class D, extent_t... Own>
inline constexpr extent_t prime_extent = D::static_extent;
template <class D, extent_t Own>
inline constexpr extent_t prime_extent<D, Own> = Own;
}  // namespace detail

/// A second dimension of D's kind, related to D: the attended positions of a sequence, the second heads when heads mix.
/// Its extent is that of D if static, or the one of `prime<D, Extent>`; a run-time extent is independent of D's.
template <dimension_type D, extent_t... Extent>
struct prime : dimension<D::abilities, detail::prime_extent<D, Extent...>> {
  static_assert(sizeof...(Extent) < 2, "dimwise: a prime has one extent");
  using prime_of = D;
  using dimension<D::abilities, detail::prime_extent<D, Extent...>>::dimension;
};
/// The attended positions of a packed dimension; pass its documents as for D.
template <dimension_type D, extent_t... Extent>
  requires(has_any(D::abilities, ability::packed))
struct prime<D, Extent...> : packed_dim<detail::prime_extent<D, Extent...>> {
  using prime_of = D;
  using packed_dim<detail::prime_extent<D, Extent...>>::packed_dim;
};

/// The output side of a square weight: `tensor<float, d_model, out<d_model>>` (R12).
template <dimension_type D>
struct out : dimension<D::abilities, D::static_extent> {
  using out_of = D;
  using dimension<D::abilities, D::static_extent>::dimension;
};

/// A's extent divided by B's, with A's kind: the features of one head. Rejected if not divisible (R4).
template <dimension_type A, dimension_type B>
struct divided : dimension<A::abilities, detail::quotient<A, B>()> {
  using divided_from = A;
  using divided_by = B;
  using dimension<A::abilities, detail::quotient<A, B>()>::dimension;
};

/// The ordered product of its factors, the first slowest. It keeps their extents; two orders are two types (R4).
template <dimension_type... Factors>
struct merged {
  static constexpr ability abilities = detail::merged_abilities({Factors::abilities...});
  static constexpr extent_t static_extent = detail::product({Factors::static_extent...});
};

/// The concatenation of its parts, which are distinct types; take one with `part<P>(x)` (R14).
template <dimension_type... Parts>
struct summed {
  static constexpr ability abilities = detail::common_abilities({Parts::abilities...});
  static constexpr extent_t static_extent = detail::total({Parts::static_extent...});
};

namespace detail {

template <class D>
inline constexpr bool is_merged = false;
template <class... F>
inline constexpr bool is_merged<merged<F...>> = true;
template <class D>
inline constexpr bool is_summed = false;
template <class... P>
inline constexpr bool is_summed<summed<P...>> = true;
template <class D>
inline constexpr bool is_composite = is_merged<D> || is_summed<D>;

// The dimensions that determine an extent: the dimension itself, or its factors or parts.
template <class D>
struct atoms_of {
  using type = list<D>;
};
template <class... F>
struct atoms_of<merged<F...>> {
  using type = unique_t<join_t<typename atoms_of<F>::type...>>;
};
template <class... P>
struct atoms_of<summed<P...>> {
  using type = unique_t<join_t<typename atoms_of<P>::type...>>;
};
template <class... D>
using atoms_t = unique_t<join_t<typename atoms_of<D>::type...>>;

// The composite that a prime or output side was derived from; void for other dimensions.
template <class Atom>
struct composite_behind {
  using type = void;
};
template <class Atom>
  requires(is_composite<typename Atom::prime_of>)
struct composite_behind<Atom> {
  using type = typename Atom::prime_of;
};
template <class Atom>
  requires(is_composite<typename Atom::out_of>)
struct composite_behind<Atom> {
  using type = typename Atom::out_of;
};
// A composite, or the prime or output side of one: its elements are not positions, heads or features of one dimension.
template <class D>
inline constexpr bool is_made_of_several = is_composite<D> || !std::is_void_v<typename composite_behind<D>::type>;

// The dimensions that provide abilities: atoms, and the atoms of the composite that an atom derives from. Documents,
// heads and positions are found through them under any name.
template <class Atoms>
struct kinds_of_atoms {
  using type = Atoms;
};
template <class Atom>
struct kinds_of : kinds_of_atoms<typename atoms_of<typename composite_behind<Atom>::type>::type> {};
template <class Atom>
  requires(!is_made_of_several<Atom>)
struct kinds_of<Atom> {
  using type = list<Atom>;
};
template <class... A>
  requires(... || is_made_of_several<A>)
struct kinds_of_atoms<list<A...>> {
  using type = unique_t<join_t<typename kinds_of<A>::type...>>;
};

// The dimensions with a stride of their own: every factor of a product; a sum as a whole.
template <class D>
struct axes_of {
  using type = list<D>;
};
template <class... F>
struct axes_of<merged<F...>> {
  using type = join_t<typename axes_of<F>::type...>;
};
template <class... D>
using axes_t = join_t<typename axes_of<D>::type...>;

template <class A, class B>
inline constexpr bool is_prime_of = false;
template <class A, class B>
  requires requires { typename A::prime_of; }
inline constexpr bool is_prime_of<A, B> = std::is_same_v<typename A::prime_of, B>;
template <class A, class B>
inline constexpr bool is_out_of = false;
template <class A, class B>
  requires requires { typename A::out_of; }
inline constexpr bool is_out_of<A, B> = std::is_same_v<typename A::out_of, B>;
template <class D>
inline constexpr bool is_out = requires { typename D::out_of; };

template <class A, class B>
inline constexpr bool related = is_prime_of<A, B> || is_prime_of<B, A> || is_out_of<A, B> || is_out_of<B, A>;

// Whether two static extents differ.
template <class A, class B>
inline constexpr bool extents_differ =
    A::static_extent != at_run_time && B::static_extent != at_run_time && A::static_extent != B::static_extent;

template <class D>
inline constexpr bool is_position = has_any(D::abilities, position_ability);
template <class D>
inline constexpr bool is_packed = has_any(D::abilities, ability::packed);
template <class D>
inline constexpr bool is_feature = has_any(D::abilities, ability::feature);
template <class D>
inline constexpr bool is_choice = has_any(D::abilities, ability::choice);
template <class D>
inline constexpr bool is_parallel = has_any(D::abilities, ability::parallel);
template <class D>
inline constexpr bool is_heads = has_any(D::abilities, ability::heads);

}  // namespace detail

/// A is a prime or `out` of B, or B of A: `rename` converts between them (R3).
template <class A, class B>
concept related_dimensions = dimension_type<A> && dimension_type<B> && detail::related<A, B>;

}  // namespace dimwise

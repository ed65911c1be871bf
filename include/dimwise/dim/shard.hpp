// SPDX-License-Identifier: BSL-1.0
// dimwise/dim/shard.hpp -- dimensions that several ranks share: mesh axes, and the part of a dimension on one rank.
//
// Layer: dim. Includes: dim, support. Knows neither ranks that run nor messages between them.
// Tests: tests/shape/shard.test.cpp, tests/compile_fail/ranks/
//
//   struct tp : dimwise::mesh_axis<2> {};                    // two ranks
//   using hidden_here = dimwise::shard<hidden, tp>;          // this rank's half of hidden: another dimension
#pragma once

#include <dimwise/dim/derived.hpp>
#include <dimwise/support/name.hpp>

namespace dimwise {

/// An axis of the ranks that run a program: the ranks of one part of the work, `struct tp : mesh_axis<2> {};`.
///
/// The number of ranks is static, or known when the program runs. An object is that number.
template <extent_t Ranks = at_run_time>
struct mesh_axis {
  static constexpr extent_t static_extent = Ranks;
  using is_mesh_axis = void;

  constexpr mesh_axis() = default;
  /// The number of ranks along the axis; throws `extent_error` if it is negative or differs from the static one.
  template <std::integral Number>
  constexpr mesh_axis(Number ranks) : ranks_(static_cast<extent_t>(ranks)) {  // implicit: `tp{2}`
    if constexpr (std::signed_integral<Number>) {
      if (ranks < 0) { detail::throw_negative_extent(static_cast<long long>(ranks)); }
    }
    if (Ranks != at_run_time && ranks_ != Ranks) { detail::throw_other_extent(static_cast<long long>(ranks), Ranks); }
  }
  /// The number of ranks.
  [[nodiscard]] constexpr extent_t ranks() const { return ranks_; }

 private:
  extent_t ranks_ = Ranks == at_run_time ? 1 : Ranks;
};

/// An axis of the ranks.
template <class M>
concept mesh_axis_type = requires {
  typename M::is_mesh_axis;
  { M::static_extent } -> std::convertible_to<extent_t>;
};

/// How a dimension is divided: of N ranks, rank r has the elements r, r + N, r + 2N, … A causal mask then leaves every
/// rank the same work.
struct striped;

template <dimension_type D, mesh_axis_type M, class... Way>
struct shard;

namespace detail {

template <class D, class M>
inline constexpr bool divides_among = D::static_extent == at_run_time || M::static_extent == at_run_time ||
                                      (M::static_extent != 0 && D::static_extent % M::static_extent == 0);

// A product has no elements of its own, documents do not end where a rank's part ends, and the positions of stripes are
// as far from each other as there are ranks.
template <class D, class M, class... Way>
inline constexpr bool has_shard = !is_composite<D> && !has_any(D::abilities, ability::packed) &&
                                  (sizeof...(Way) == 0 || (std::is_same_v<list<Way...>, list<striped>> &&
                                                           M::static_extent != at_run_time && M::static_extent != 0));

template <class D, class M>
using shard_error = ERROR_R24_dimension_has_no_such_shard<over<about_t<D>, about_t<M>>>;

// The elements on each rank; assertions in functions, as for `divided`.
template <class D, class M, class... Way>
consteval extent_t shard_extent() {
  if constexpr (!has_shard<D, M, Way...>) {
    static_assert(holds<has_shard<D, M, Way...>, shard_error<D, M>>, "R24: the dimension has no such shard");
    return at_run_time;
  } else {
    static_assert(holds<divides_among<D, M>, division_error<D, M>>, "R4: the ranks do not divide the dimension");
    if constexpr (D::static_extent == at_run_time || M::static_extent == at_run_time || M::static_extent == 0) {
      return at_run_time;
    } else {
      return D::static_extent / M::static_extent;
    }
  }
}

// The shard of a prime is a prime of the shard, and so is an output side.
template <class D, class M, class... Way>
struct shard_relations {};
template <class D, class M, class... Way>
  requires requires { typename D::prime_of; }
struct shard_relations<D, M, Way...> {
  using prime_of = shard<typename D::prime_of, M, Way...>;
};
template <class D, class M, class... Way>
  requires requires { typename D::out_of; }
struct shard_relations<D, M, Way...> {
  using out_of = shard<typename D::out_of, M, Way...>;
};

}  // namespace detail

/// This rank's part of D along the mesh axis M: another dimension than D, of D's kind.
///
/// Its extent is that of D divided by the number of ranks; rejected if the static extents do not divide (R4), for
/// composites, packed positions, and stripes among a number of ranks that is not static (R24). The part of positions
/// begins at its origin: `part_here` computes both.
template <dimension_type D, mesh_axis_type M, class... Way>
struct shard : dimension<D::abilities, detail::shard_extent<D, M, Way...>()>, detail::shard_relations<D, M, Way...> {
  using shard_of = D;
  using shard_along = M;
  static constexpr bool is_striped = sizeof...(Way) > 0;
  using dimension<D::abilities, detail::shard_extent<D, M, Way...>()>::dimension;
};

namespace detail {

template <class D>
inline constexpr bool is_shard = requires { typename D::shard_of; };

// The dimension of which D is a part.
template <class D>
struct whole_of {
  using type = D;
};
template <class D>
  requires is_shard<D>
struct whole_of<D> : whole_of<typename D::shard_of> {};
template <class D>
using whole_t = typename whole_of<D>::type;

// The mesh axes that share D: those of its shards, under any name.
template <class D>
struct mesh_axes_of {
  using type = list<>;
};
template <class D>
  requires is_shard<D>
struct mesh_axes_of<D> {
  using type = join_t<list<typename D::shard_along>, typename mesh_axes_of<typename D::shard_of>::type>;
};
template <class D>
  requires(!is_shard<D> && requires { typename D::prime_of; })
struct mesh_axes_of<D> : mesh_axes_of<typename D::prime_of> {};
template <class D>
  requires(!is_shard<D> && requires { typename D::out_of; })
struct mesh_axes_of<D> : mesh_axes_of<typename D::out_of> {};
// The features of one head are whole where both the features and the heads are divided.
template <class D>
  requires(!is_shard<D> && requires { typename D::divided_from; })
struct mesh_axes_of<D> {
  using type = difference_t<typename mesh_axes_of<typename D::divided_from>::type,
                            typename mesh_axes_of<typename D::divided_by>::type>;
};
template <class... F>
struct mesh_axes_of<merged<F...>> {
  using type = join_t<typename mesh_axes_of<F>::type...>;
};
template <class... P>
struct mesh_axes_of<summed<P...>> {
  using type = unique_t<join_t<typename mesh_axes_of<P>::type...>>;
};
template <class D>
using mesh_axes_t = typename mesh_axes_of<D>::type;
template <class D>
inline constexpr bool is_sharded = mesh_axes_t<D>::size > 0;

// The distance between the positions of neighbouring elements.
template <class D>
inline constexpr std::ptrdiff_t position_step = 1;
template <class D>
  requires is_shard<D>
inline constexpr std::ptrdiff_t position_step<D> =
    position_step<typename D::shard_of> *
    (D::is_striped ? static_cast<std::ptrdiff_t>(D::shard_along::static_extent) : 1);
template <class D>
  requires(!is_shard<D> && requires { typename D::prime_of; })
inline constexpr std::ptrdiff_t position_step<D> = position_step<typename D::prime_of>;

// A mesh axis or a dimension in a running program, apart from its type: its address identifies it.
struct named_axis {
  text name;
};
template <class M>
inline constexpr named_axis axis_id{raw_type_name<M>()};
using axis_key = const named_axis*;

// The quotient, rounded down.
constexpr std::ptrdiff_t floor_quotient(std::ptrdiff_t a, std::ptrdiff_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

[[noreturn]] inline void throw_part_beyond_whole(const char* operation, extent_t part, extent_t whole, text (*name)()) {
  raise<extent_error>(error{} << operation << ": this rank's part " << name() << " has extent " << part
                              << ", more than the whole extent " << whole << " (R24)");
}
[[noreturn]] inline void throw_no_such_rank(extent_t rank, extent_t ranks, extent_t known, text (*name)()) {
  error e;
  e << "part_here: rank " << rank << " of " << ranks << " has no part of dimension " << name();
  if (known != at_run_time) { e << ", which is divided among " << known; }
  raise<extent_error>(e << " (R24)");
}

}  // namespace detail

/// A dimension of which each rank has a part.
template <class D>
concept sharded_dimension = dimension_type<D> && detail::is_shard<D>;

/// The part that rank `rank` of `ranks` has of `whole`: its extent, and the position of its first element.
///
/// If the ranks do not divide the extent, the first ones have an element more. Throws `extent_error` for a rank that
/// does not exist, and for a number of ranks or an extent that differs from the static one.
template <sharded_dimension S>
[[nodiscard]] constexpr S part_here(const typename S::shard_of& whole, extent_t rank, extent_t ranks) {
  constexpr extent_t known = S::shard_along::static_extent;
  if (rank >= ranks || (known != at_run_time && ranks != known)) {
    detail::throw_no_such_rank(rank, ranks, known, &detail::dimension_name<S>);
  }
  const extent_t n = whole.extent();
  const extent_t more = n % ranks;
  S part{n / ranks + (rank < more ? 1 : 0)};
  if constexpr (has_any(S::abilities, ability::ordered)) {
    const extent_t before = S::is_striped ? rank : rank * (n / ranks) + (rank < more ? rank : more);
    part.start_at(whole.origin() + static_cast<std::ptrdiff_t>(before) * detail::position_step<typename S::shard_of>);
  }
  return part;
}

}  // namespace dimwise

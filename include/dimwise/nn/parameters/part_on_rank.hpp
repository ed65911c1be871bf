// SPDX-License-Identifier: BSL-1.0
// dimwise/nn/parameters/part_on_rank.hpp -- which elements of a whole tensor a rank has, from its place in a mesh: so
// that P ranks draw the numbers of one.
//
// Layer: nn. Knows neither ranks that run nor messages between them: a mesh is a template of mesh axes.
// Tests: tests/nn/parameters.test.cpp, tests/ranks/training/training.test.cpp
#pragma once

#include <dimwise/dim/shard.hpp>

#include <array>
#include <cstddef>

namespace dimwise::nn::detail {

using namespace dimwise::detail;

// A mesh axis of the program: this rank, and how many there are.
struct rank_along {
  axis_key axis = nullptr;
  std::size_t rank = 0;
  std::size_t ranks = 0;
};
// A dimension of which each rank has a part, and its whole extent.
struct whole_extent {
  axis_key dimension = nullptr;
  std::size_t extent = 0;
};

// The axes of a `ranks::mesh`; empty if X is something else.
template <class X>
struct axes_of_mesh_type {
  using type = list<>;
};
template <template <class...> class Mesh, mesh_axis_type... Axes>
  requires(requires(const Mesh<Axes...>& mesh) { (mesh.template coordinate<Axes>() + ... + std::size_t{0}); })
struct axes_of_mesh_type<Mesh<Axes...>> {
  using type = list<Axes...>;
};
template <class X>
using axes_of_mesh_t = typename axes_of_mesh_type<X>::type;
template <class X>
inline constexpr bool is_mesh = axes_of_mesh_t<X>::size > 0;

// The part of a dimension that this rank has: element i is element first + i · step of the whole.
struct part_of_dimension {
  std::size_t here = 1;
  std::size_t whole = 1;
  std::size_t first = 0;
  std::size_t step = 1;
};

// The part of D that this rank has by its place in the mesh; of a part of a part, among the elements of the whole.
// `known` has the place and the whole extents: `ranks`, `wholes`, and `raise_unknown(dimension, what)`.
template <class D, class Known>
part_of_dimension part_by_rank(const Known& known) {
  if constexpr (is_shard<D>) {
    const part_of_dimension all = part_by_rank<typename D::shard_of>(known);
    for (const rank_along& one : known.ranks) {
      if (one.axis != &axis_id<typename D::shard_along>) { continue; }
      const std::size_t more = all.here % one.ranks, each = all.here / one.ranks;
      const std::size_t before = D::is_striped ? one.rank : one.rank * each + (one.rank < more ? one.rank : more);
      return {each + (one.rank < more ? 1 : 0), all.whole, all.first + before * all.step,
              all.step * (D::is_striped ? one.ranks : 1)};
    }
    known.raise_unknown(dimension_name<D>(), "this rank's part");
  } else {
    std::size_t whole = static_cast<std::size_t>(D::static_extent);
    if constexpr (D::static_extent == at_run_time) {
      for (const whole_extent& one : known.wholes) {
        if (one.dimension == &axis_id<D>) { whole = one.extent; }
      }
      if (whole == at_run_time) { known.raise_unknown(dimension_name<D>(), "the whole extent"); }
    }
    return {whole, whole, 0, 1};
  }
}
// The same of a tensor's dimension, which has this extent here.
template <class D, class Known>
part_of_dimension part_in_whole(std::size_t here, const Known& known) {
  if constexpr (!is_sharded<D>) {
    return {here, here, 0, 1};
  } else if constexpr (is_shard<D>) {
    const part_of_dimension part = part_by_rank<D>(known);
    if (part.here != here) { known.raise_unknown(dimension_name<typename D::shard_of>(), "this rank's part"); }
    return part;
  } else if constexpr (requires { typename D::prime_of; }) {
    return part_in_whole<typename D::prime_of>(here, known);
  } else {
    known.raise_unknown(dimension_name<D>(), "this rank's part");
  }
}

template <class D>
struct factors_of_dimension {
  using type = list<D>;
};
template <class... F>
struct factors_of_dimension<merged<F...>> {
  using type = join_t<typename factors_of_dimension<F>::type...>;
};
template <class Dims>
struct all_factors;
template <class... D>
struct all_factors<list<D...>> {
  using type = join_t<list<>, typename factors_of_dimension<D>::type...>;
};
// The dimensions in the order of memory; those of a product are its factors.
template <class Dims>
using all_factors_t = typename all_factors<Dims>::type;

// The parts of the factors in the order of memory.
template <class Factors>
struct parts_in_whole;
template <class... D>
struct parts_in_whole<list<D...>> {
  template <class Extents, class Known>
  static auto of(const Extents& e, const Known& known) {
    return std::array<part_of_dimension, sizeof...(D)>{
        part_in_whole<D>(static_cast<std::size_t>(e.template extent<D>()), known)...};
  }
};

// The place of element i of the part among those of the whole; it grows with i.
inline std::size_t place_in_whole(const part_of_dimension* dims, std::size_t count, std::size_t i) {
  std::size_t place = 0, stride = 1;
  for (std::size_t k = count; k-- > 0;) {
    place += (dims[k].first + i % dims[k].here * dims[k].step) * stride;
    i /= dims[k].here;
    stride *= dims[k].whole;
  }
  return place;
}
// Calls `take(i)` for each of the `count` elements of the part, and `skip()` for each element of the whole before it
// that other ranks have. Returns how many elements of the whole that were.
template <std::size_t N, class Skip, class Take>
std::size_t walk_whole(const std::array<part_of_dimension, N>& parts, std::size_t count, const Skip& skip,
                       const Take& take) {
  std::size_t seen = 0;
  for (std::size_t i = 0; i < count; ++i, ++seen) {
    for (const std::size_t place = place_in_whole(parts.data(), N, i); seen < place; ++seen) { skip(); }
    take(i);
  }
  return seen;
}

}  // namespace dimwise::nn::detail

// SPDX-License-Identifier: BSL-1.0
// dimwise/models/common/division.hpp -- the dimensions of a decoder of which each rank has a part, and how its layers
// make parts whole.
//
// Layer: models. Every map is divided along its outputs, and its inputs are gathered, so no sum is divided among ranks,
// and the blocks of low-precision maps are those of one rank. The token embedding is divided along its features: its
// blocks are those of one rank only if a part is a multiple of 32. Maps divided along their inputs (Shoeybi et al.
// 2019) send half as many messages. Kernels choose the order of additions by the size of a product, so the last bits
// may differ from one rank. All ranks need the same instruction set: norms and routers are computed on each.
// Tests: tests/ranks/decoders/tensor_parallel.test.cpp
#pragma once

#include <dimwise/dim/shard.hpp>
#include <dimwise/tensor/operand.hpp>

namespace dimwise::models {

/// Dimensions of a decoder that ranks divide along the mesh axis `divided_along`; an object of `gatherer` makes parts
/// whole (`ranks::gathered_parts`).
template <class Dims>
concept divided_dims = requires {
  typename Dims::divided_along;
  typename Dims::gatherer;
};

/// The gatherer of a decoder that one rank has whole.
struct nothing_to_gather {
  /// The tensor itself.
  template <class D, class X>
  [[nodiscard]] static const X& whole(const X& x) {
    return x;
  }
  /// The tensor itself, which has this extent of D.
  template <class D, class X>
  [[nodiscard]] static const X& whole(const X& x, std::size_t /*extent*/) {
    return x;
  }
  /// The whole dimension.
  template <class D>
  [[nodiscard]] static D part(std::size_t extent) {
    return dimwise::detail::extent_or_static<D>(extent);
  }
  /// The number of this rank.
  [[nodiscard]] static std::size_t rank() { return 0; }
  /// The number of ranks.
  [[nodiscard]] static std::size_t size() { return 1; }
};

namespace detail {

template <class Dims, class D>
struct part_on_rank {
  using type = D;
};
template <divided_dims Dims, class D>
struct part_on_rank<Dims, D> {
  using type = shard<D, typename Dims::divided_along>;
};
template <class Dims>
struct gatherer_for {
  using type = nothing_to_gather;
};
template <divided_dims Dims>
struct gatherer_for<Dims> {
  using type = typename Dims::gatherer;
};

}  // namespace detail

/// What a rank has of D: D, or its part of it if ranks divide the decoder.
template <class Dims, class D>
using part_of_dims = typename detail::part_on_rank<Dims, D>::type;
/// What makes parts whole.
template <class Dims>
using gatherer_of = typename detail::gatherer_for<Dims>::type;

}  // namespace dimwise::models

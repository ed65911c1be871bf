// SPDX-License-Identifier: BSL-1.0
// dimwise/ranks/mesh.hpp -- the ranks as a grid: an axis for data, one for heads, …
//
// Layer: ranks.
// Tests: tests/ranks/mesh.test.cpp
//
//   struct dp : mesh_axis<> {};
//   struct tp : mesh_axis<2> {};
//   const ranks::mesh grid(world, dp{3}, tp{});   // 6 ranks: rank 3 has the coordinates dp 1, tp 1
//   grid.along<tp>().all_reduce(…);               // over the two ranks with the same coordinate dp
#pragma once

#include <dimwise/dim/dimension.hpp>
#include <dimwise/dim/shard.hpp>
#include <dimwise/ranks/messages/communicator.hpp>
#include <dimwise/support/text_warning.hpp>

#include <array>
#include <type_traits>

DIMWISE_DETAIL_TEXT_BEGIN;
namespace dimwise::ranks {

/// An axis of a mesh: `static_extent` is its number of ranks, or `at_run_time` if an object of the axis has it.
/// `mesh_axis<N>` (dim/shard.hpp) is one.
template <class M>
concept axis_of_ranks = requires(const M& axis) {
  { M::static_extent } -> std::convertible_to<std::size_t>;
  { axis.ranks() } -> std::convertible_to<std::size_t>;
};

/// The ranks of a communicator as a grid of the axes, the last one varying fastest: rank = (c0 · n1 + c1) · n2 + c2.
///
/// Every rank constructs it at the same time. Copies share the communicators. An axis is one direction of one grid:
/// throws `rank_error` on all ranks if a mesh of a rank is alive that has an axis of the same type along other ranks.
template <axis_of_ranks... Axes>
class mesh {
 public:
  /// A grid of the axes with the given counts. Throws `extent_error` if their product is not the number of ranks, or if
  /// an axis has another count than its type says.
  explicit mesh(const communicator& world, const Axes&... axes)
    requires(sizeof...(Axes) > 0)
      : mesh(world, counts{static_cast<std::size_t>(axes.ranks())...}) {}
  /// A grid of axes of which at most one has its count from an object: that one gets all ranks that are left. Throws
  /// `extent_error` if they do not divide the number of ranks.
  explicit mesh(const communicator& world)
    requires(((Axes::static_extent == at_run_time ? 1 : 0) + ... + 0) <= 1)
      : mesh(world, counts_of(world.size())) {}

  /// All ranks.
  [[nodiscard]] const communicator& world() const noexcept { return world_; }
  /// The number of ranks along an axis.
  template <class M>
  [[nodiscard]] std::size_t count() const noexcept {
    return counts_[index_of<M>];
  }
  /// The coordinate of this rank along an axis.
  template <class M>
  [[nodiscard]] std::size_t coordinate() const noexcept {
    return along<M>().rank();
  }
  /// The ranks that differ from this one in the coordinate along the axis only, in the order of this coordinate.
  template <class M>
  [[nodiscard]] const communicator& along() const noexcept {
    return along_[index_of<M>];
  }
  /// Whether the mesh has an axis.
  template <class M>
  static constexpr bool has = (std::is_same_v<M, Axes> || ...);

 private:
  using counts = std::array<std::size_t, sizeof...(Axes)>;
  template <class M>
  static constexpr std::size_t index_of = [] {
    static_assert(has<M>, "the mesh has no such axis");
    std::size_t at = 0;
    (void)((std::is_same_v<M, Axes> ? false : (++at, true)) && ...);
    return at;
  }();

  static std::string name_of(dimwise::detail::text axis) {
    std::string name;
    dimwise::detail::say_name(axis, [&](char c) { name += c; });
    return name;
  }
  static constexpr std::array<dimwise::detail::text, sizeof...(Axes)> names{dimwise::detail::raw_type_name<Axes>()...};
  static constexpr counts static_counts{static_cast<std::size_t>(Axes::static_extent)...};

  // Every axis has its static count, and the one that has none the ranks that are left.
  static counts counts_of(std::size_t ranks) {
    counts result = static_counts;
    std::size_t left = ranks;
    for (const std::size_t one : result) {
      if (one == at_run_time) { continue; }
      if (one == 0 || left % one != 0) { throw_counts(ranks, result); }
      left /= one;
    }
    for (std::size_t& one : result) { one = one == at_run_time ? left : one; }
    return result;
  }
  [[noreturn]] static void throw_counts(std::size_t ranks, const counts& wanted) {
    error text;
    text << "mesh: " << ranks << " ranks do not form a grid of";
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      text << (i == 0 ? " " : " x ") << names[i] << " ";
      if (wanted[i] == at_run_time) {
        text << "any number";
      } else {
        text << wanted[i];
      }
    }
    dimwise::detail::raise<extent_error>(text);
  }

  mesh(const communicator& world, const counts& wanted) : world_(world), counts_(wanted) {
    std::size_t product = 1;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (static_counts[i] != at_run_time && static_counts[i] != wanted[i]) {
        dimwise::detail::raise<extent_error>(error{} << "mesh: the axis " << names[i] << " has " << static_counts[i]
                                                     << " ranks by its type, and " << wanted[i] << " were given");
      }
      product *= wanted[i];
    }
    if (product != world.size()) { throw_counts(world.size(), wanted); }
    // The stride of an axis is the product of the counts after it.
    std::size_t stride = world.size();
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const std::size_t outer = world.rank() / stride * stride;
      stride /= wanted[i];
      along_[i] = world.split(outer + world.rank() % stride, "along " + name_of(names[i]));
    }
    check_other_meshes();
  }

  // A value along an axis of one mesh would be reduced over the ranks of another.
  void check_other_meshes() const {
    std::string text;
    std::size_t i = 0;
    const auto look = [&](const void* axis) {
      if (text.empty()) { text = detail::known_axes::note(axis, along_[i], name_of(names[i])); }
      ++i;
    };
    (look(&dimwise::detail::axis_id<Axes>), ...);
    std::int32_t has_other = text.empty() ? 0 : 1;
    world_.all_reduce(&has_other, 1, "the axes of a mesh", reduction::max);
    if (has_other == 0) { return; }
    throw rank_error(
        "mesh: " + (text.empty() ? "an axis is alive along other ranks in another mesh, on another rank" : text) +
        "; declare another axis type, or end the other mesh first (R25)");
  }

  communicator world_;
  counts counts_;
  std::array<communicator, sizeof...(Axes)> along_{};
};
template <axis_of_ranks... Axes>
mesh(const communicator&, const Axes&...) -> mesh<Axes...>;

namespace detail {

// Calls `f`, in which the ranks of a mesh take part along all axes (`taking_part`).
template <class F, class... Axes>
auto taking_part_in(const mesh<Axes...>& grid, const char* operation, const F& f) {
  try {
    return f();
  } catch (...) {
    grid.world().withdraw(std::current_exception(), operation);
    (grid.template along<Axes>().withdraw(std::current_exception(), operation), ...);
    throw;
  }
}

}  // namespace detail

}  // namespace dimwise::ranks
DIMWISE_DETAIL_TEXT_END;

// SPDX-License-Identifier: BSL-1.0
// dimwise/nn/parameters/drawn.hpp -- one parameter, drawn whole or as the part that a rank has of it.
//
// Layer: nn. A rank draws the numbers of the whole parameter and keeps those of its part, so that every division of a
// model has the same weights.
// Tests: tests/nn/parameters.test.cpp
#pragma once

#include <dimwise/nn/parameters.hpp>
#include <dimwise/nn/parameters/part_on_rank.hpp>

#include <array>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <vector>

namespace dimwise::nn::detail {

// The whole extents of a module, and this rank's place in a mesh: the extents of its parts.
template <class Mesh, class... Whole>
class extents_on_rank;
template <template <class...> class Mesh, class... Axes, class... Whole>
class extents_on_rank<Mesh<Axes...>, Whole...> {
 public:
  explicit extents_on_rank(const Mesh<Axes...>& mesh, const Whole&... whole)
      : ranks{rank_along{&axis_id<Axes>, mesh.template coordinate<Axes>(), mesh.template count<Axes>()}...},
        wholes{whole_extent{&axis_id<Whole>, static_cast<std::size_t>(whole.extent())}...},
        given_(whole...) {}

  template <class D>
  [[nodiscard]] D of() const {
    if constexpr (is_shard<D>) {
      constexpr std::size_t axis = place_in<list<Axes...>, typename D::shard_along>;
      return part_here<D>(of<typename D::shard_of>(), ranks[axis].rank, ranks[axis].ranks);
    } else if constexpr (D::static_extent != at_run_time) {
      return D{};
    } else {
      return std::get<D>(given_);
    }
  }
  [[noreturn]] static void raise_unknown(dimwise::detail::text dimension, const char* what) {
    raise<extent_error>(error{} << "initialise: " << what << " of dimension " << dimension << " is not known (R15)");
  }

  std::array<rank_along, sizeof...(Axes)> ranks;
  std::array<whole_extent, sizeof...(Whole)> wholes;

 private:
  std::tuple<Whole...> given_;
};
template <class X>
inline constexpr bool is_extents_on_rank = false;
template <class Mesh, class... Whole>
inline constexpr bool is_extents_on_rank<extents_on_rank<Mesh, Whole...>> = true;

// The given extents, each found by its dimension.
template <class D>
struct one_given {
  const D& extent;
};
template <class... Given>
struct given_by_dimension : one_given<Given>... {
  template <class D>
  [[nodiscard]] const D& of() const {
    return static_cast<const one_given<D>&>(*this).extent;
  }
};
template <class... Given>
auto by_dimension(const Given&... given) {
  if constexpr ((is_extents_on_rank<Given> || ...)) {
    return (given, ...);
  } else {
    return given_by_dimension<Given...>{{given}...};
  }
}

// A zero tensor. `given` has the extents of all parameters of a module, the tensor takes its own; `initialise` has
// rejected missing ones (R15).
template <class Tensor, class... Given>
Tensor zeros(const Given&... given) {
  return [&]<class... Needed>(list<Needed...>) {
    [[maybe_unused]] const auto all = by_dimension(given...);
    return Tensor(all.template of<Needed>()...);
  }(run_time_atoms_t<shape_of<Tensor>>{});
}

// What a divided module's own `initialise_parameters` gets instead of `how` and passes on (R24): numbers that it drew
// itself would be the same on every rank.
template <class How, class Axes>
struct draws_parts {
  How& how;
  template <class... Counts,
            class Error = ERROR_R24_divided_parameters_are_drawn_by_initialise<op::initialise, over_t<Axes>>>
  Error operator()(const Counts&...) const;
};
template <class How>
inline constexpr bool is_draws_parts = false;
template <class How, class Axes>
inline constexpr bool is_draws_parts<draws_parts<How, Axes>> = true;
template <class How>
auto& source_of(How& how) {
  if constexpr (is_draws_parts<std::remove_const_t<How>>) {
    return how.how;
  } else {
    return how;
  }
}

// Draws a tensor from the dimensions I to O.
template <class I, class O, class Tensor, class How, class... Given>
void draw(Tensor& t, How& how, const Given&... given) {
  using T = typename Tensor::value_type;
  const auto drawn = [&](const auto& elements_of, const auto& all) {
    const std::size_t inputs = elements_of(I{}), outputs = elements_of(O{});
    std::vector<T> values(t.size());
    all(values, [&] { return static_cast<T>(source_of(how)(inputs, outputs)); });
    t.assign(values);
  };
  using factors = all_factors_t<dims_t<shape_of<Tensor>>>;
  if constexpr ((is_extents_on_rank<Given> || ...) && mesh_axes_of_list_t<factors>::size > 0) {
    const auto& known = (given, ...);
    const auto parts = parts_in_whole<factors>::of(t.extents(), known);
    const auto whole_of = [&]<class... D>(list<D...>) {
      std::size_t product = 1;
      for (const part_of_dimension& part : parts_in_whole<all_factors_t<list<D...>>>::of(t.extents(), known)) {
        product *= part.whole;
      }
      return product;
    };
    drawn(whole_of, [&](std::vector<T>& values, const auto& number) {
      std::size_t seen = walk_whole(parts, values.size(), number, [&](std::size_t i) { values[i] = number(); });
      for (const std::size_t all_of_them = whole_of(factors{}); seen < all_of_them; ++seen) { (void)number(); }
    });
  } else {
    const auto here_of = [&]<class... D>(list<D...>) { return (extent_of<D>(t) * ... * std::size_t{1}); };
    drawn(here_of, [](std::vector<T>& values, const auto& number) {
      for (T& v : values) { v = number(); }
    });
  }
}

}  // namespace dimwise::nn::detail

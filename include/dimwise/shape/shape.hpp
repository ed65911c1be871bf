// SPDX-License-Identifier: BSL-1.0
// dimwise/shape/shape.hpp -- a shape: distinct dimensions in memory order, followed by marks.
//
// Layer: shape. Types in, types out, no data.
// Tests: tests/laws/shapes.test.cpp, tests/shape/marks.test.cpp
//
//   shape<batch, heads, seq, key, normalised<key>>
#pragma once

#include <dimwise/shape/marks.hpp>

namespace dimwise {

/// The dimensions of a tensor in memory order, followed by its marks.
template <class... DimsAndMarks>
struct shape {};

namespace detail {

template <class Shape>
struct shape_parts;
template <class... T>
struct shape_parts<shape<T...>> {
  static constexpr bool marked = (is_mark<T> || ...);
  using dims = typename either_t<marked, join<list_if<!is_mark<T>, T>...>, std::type_identity<list<T...>>>::type;
  using marks = typename either_t<marked, join<list_if<is_mark<T>, T>...>, std::type_identity<list<>>>::type;
};
template <class Shape>
using dims_t = typename shape_parts<Shape>::dims;
template <class Shape>
using marks_t = typename shape_parts<Shape>::marks;

template <class Dims, class Marks>
struct make_shape;
template <class... D, class... M>
struct make_shape<list<D...>, list<M...>> {
  using type = shape<D..., M...>;
};
/// The shape with these dimensions and marks, the marks in canonical order without duplicates.
template <class Dims, class Marks>
using make_shape_t = typename make_shape<Dims, typename canonical_marks<Marks>::type>::type;

template <class List>
struct axes_of_list;
template <class... D>
struct axes_of_list<list<D...>> {
  using type = axes_t<D...>;
};
template <class List>
using axes_of_list_t = typename axes_of_list<List>::type;

template <class List>
struct atoms_of_list;
template <class... D>
struct atoms_of_list<list<D...>> {
  using type = atoms_t<D...>;
};
template <class List>
using atoms_of_list_t = typename atoms_of_list<List>::type;
template <class List>
using kinds_of_list_t = typename kinds_of_atoms<atoms_of_list_t<List>>::type;

// The types that a shape may contain only once: its axes, and the parts of a sum, which are selected by type.
template <class Axis>
struct repeated_parts {
  using type = list<>;
};
template <class... P>
struct repeated_parts<summed<P...>> {
  using type = either_t<all_distinct(list<P...>{}), list<>, list<P...>>;
};
template <class Axes>
struct occurring;
template <class... A>
struct occurring<list<A...>> {
  using type = join_t<list<A...>, typename repeated_parts<A>::type...>;
};
template <class... T>
using occurring_t = typename occurring<axes_of_list_t<dims_t<shape<T...>>>>::type;
// Whether an axis or part occurs twice. Every shape is checked, so this avoids building a list.
template <class Axis>
inline constexpr bool repeats_part = false;
template <class... P>
inline constexpr bool repeats_part<summed<P...>> = !all_distinct(list<P...>{});
template <class Axes>
inline constexpr bool occurs_once = false;
template <class... A>
inline constexpr bool occurs_once<list<A...>> = all_distinct(list<A...>{}) && !(repeats_part<A> || ...);

template <class Axes>
struct repeated;
template <class... D>
struct repeated<list<D...>> {
  using type = difference_t<list<>, list<>>;  // list<>, as one instantiation for all shapes
};
template <class First, class... Rest>
struct repeated<list<First, Rest...>> {
  using type = typename either_t<is_any_of<First, Rest...>, std::type_identity<First>, repeated<list<Rest...>>>::type;
};

template <class... D>
consteval bool all_dimensions(list<D...>) {
  return (dimension_type<D> && ...);
}

// Whether several ranks share a dimension, or the elements are terms of a sum over ranks. What concerns ranks is looked
// at only where this is so.
template <class T>
inline constexpr bool is_placed_type = is_sharded<T> || mark_order<T> == mark_order<partial<>>;
template <class Shape>
inline constexpr bool is_placed = false;
template <class... T>
inline constexpr bool is_placed<shape<T...>> = (is_placed_type<T> || ...);

// The mesh axes of a shape, each as often as it occurs. Queries and keys of one sequence count as one: their scores are
// a block of all scores.
template <class D>
struct on_mesh {
  using type = D;
};
template <class D>
  requires(has_any(D::abilities, position_ability) && requires { typename D::prime_of; })
struct on_mesh<D> : on_mesh<typename D::prime_of> {};
template <class Dims>
struct mesh_axes_of_list;
template <class... D>
struct mesh_axes_of_list<list<D...>> {
  using type = join_t<list<>, mesh_axes_t<D>...>;
};
template <class Dims>
using mesh_axes_of_list_t = typename mesh_axes_of_list<Dims>::type;
template <class Dims>
struct dims_on_mesh;
template <class... D>
struct dims_on_mesh<list<D...>> {
  using type = unique_t<list<typename on_mesh<D>::type...>>;
};
template <class Shape>
using mesh_axes_of_shape_t =
    join_t<mesh_axes_of_list_t<typename dims_on_mesh<dims_t<Shape>>::type>, marked_t<partial, marks_t<Shape>>>;
template <class Shape, bool Placed = is_placed<Shape>>
inline constexpr bool meshes_once = true;
template <class Shape>
inline constexpr bool meshes_once<Shape, true> = all_distinct(mesh_axes_of_shape_t<Shape>{});

}  // namespace detail

/// All arguments are dimensions, and no axis or part of a sum occurs twice; a product counts as its factors (R17). No
/// mesh axis occurs twice (R25).
template <class... DimsAndMarks>
concept valid_shape = detail::all_dimensions(detail::dims_t<shape<DimsAndMarks...>>{}) &&
                      detail::occurs_once<detail::axes_of_list_t<detail::dims_t<shape<DimsAndMarks...>>>> &&
                      detail::meshes_once<shape<DimsAndMarks...>>;

namespace detail {

template <bool Distinct, bool DistinctMeshes, class... T>
struct repetition {
  using type = nothing;
};
template <bool DistinctMeshes, class... T>
struct repetition<false, DistinctMeshes, T...> {
  using type = ERROR_R17_dimension_occurs_twice<typename repeated<occurring_t<T...>>::type, shape<T...>>;
};
template <class... T>
struct repetition<true, false, T...> {
  using type =
      ERROR_R25_mesh_axis_occurs_twice<typename repeated<mesh_axes_of_shape_t<shape<T...>>>::type, shape<T...>>;
};
// `nothing`, or the error of a shape with a duplicate dimension or mesh axis.
template <class... T>
using repetition_in =
    typename repetition<occurs_once<axes_of_list_t<dims_t<shape<T...>>>>, meshes_once<shape<T...>>, T...>::type;

}  // namespace detail
}  // namespace dimwise

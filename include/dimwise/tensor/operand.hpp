// SPDX-License-Identifier: BSL-1.0
// dimwise/tensor/operand.hpp -- the concepts and extents that tensors, views and expressions share.
//
// Layer: tensor.
// An operand has a shape (a type), a value type, and extents. Nodes of expressions hold their operands by value:
// tensors are handles, so nothing is copied and nothing dangles.
#pragma once

#include <dimwise/shape/rules/assign.hpp>
#include <dimwise/shape/rules/index.hpp>
#include <dimwise/support/axis.hpp>
#include <dimwise/support/element.hpp>
#include <dimwise/tensor/extents.hpp>
#include <dimwise/tensor/misused.hpp>
#include <dimwise/tensor/other_names.hpp>
#include <dimwise/tensor/refused_shape.hpp>

#include <concepts>
#include <type_traits>

namespace dimwise {

// The operations (`softmax`, `block`, …) are members of this namespace. Its members are visible wherever those of
// `dimwise` are, but argument-dependent lookup does not find them: they never replace a user's function of the same
// name.
namespace no_adl {}
using namespace no_adl;  // NOLINT(google-build-using-namespace): makes dimwise::softmax a name

namespace detail {

struct operand_tag : other_names {};
// Accepts any argument, by a conversion that is worse than all others but an ellipsis.
struct any_argument {
  template <class X>
  any_argument(const X&);  // implicit, declared only
};
struct expression_tag {};
// Has only the shape: errors about an operand of this type do not print the whole expression.
template <class Shape>
struct shaped_as : operand_tag {};

}  // namespace detail

namespace detail {
// std::derived_from, without a class for each X and Base.
template <class X, class Base>
concept derived_from = std::is_base_of_v<Base, X> && requires(const X* x, void (&take)(const Base*)) { take(x); };
}  // namespace detail

/// A tensor, a view, or an expression.
template <class X>
concept operand =
    !detail::is_refused<std::remove_cvref_t<X>> && detail::derived_from<std::remove_cvref_t<X>, detail::operand_tag>;
/// An operand that is not stored yet.
template <class X>
concept expression = operand<X> && detail::derived_from<std::remove_cvref_t<X>, detail::expression_tag>;
/// A number in an expression.
template <class X>
concept number = std::is_arithmetic_v<std::remove_cvref_t<X>> && !std::is_same_v<std::remove_cvref_t<X>, bool>;

namespace detail {

// A rejected type is not queried: its error is reported in the user's line.
template <class X>
using shape_of = typename std::conditional_t<is_refused<X>, nothing, X>::shape_type;
template <class X>
using value_of = typename std::conditional_t<is_refused<X>, nothing, X>::value_type;
template <class X>
using extents_type_of = extents_for<shape_of<X>>;

template <class Shape>
using axes_for = axes_of_list_t<dims_t<Shape>>;

// The base that deduces the type of a stored result: `tensor p = expr;`.
template <class T, class... DimsAndMarks>
struct stored_as {};
template <class T, class Shape>
struct stored_base;
template <class T, class... DimsAndMarks>
struct stored_base<T, shape<DimsAndMarks...>> {
  using type = stored_as<T, DimsAndMarks...>;
};

// Whether the extent of an axis is in its type or in a slot.
struct extent_source {
  extent_t static_extent;
  short slot;
};
template <class A, class Slotted>
inline constexpr extent_source source_of = {A::static_extent,
                                            A::static_extent == at_run_time ? place_in<Slotted, A> : short{-1}};
[[gnu::noinline]] inline void write_extents(const extent_source* sources, std::size_t count, const slot* slots,
                                            axis* to) {
  for (std::size_t i = 0; i < count; ++i) {
    to[i].extent = sources[i].slot < 0 ? sources[i].static_extent : slots[sources[i].slot].extent;
  }
}
// Writes row-major strides in place; returns the number of elements, which has been checked before.
[[gnu::noinline]] constexpr extent_t make_contiguous(axis* axes, std::size_t rank) {
  extent_t size = 1;
  for (std::size_t i = rank; i-- > 0;) {
    axes[i].stride = static_cast<std::ptrdiff_t>(size);
    size *= axes[i].extent;
  }
  return size;
}
// Writes extents and row-major strides.
[[gnu::noinline]] inline extent_t write_contiguous_extents(const extent_source* sources, std::size_t count,
                                                           const slot* slots, axis* to) {
  write_extents(sources, count, slots, to);
  return make_contiguous(to, count);
}

template <class Axes>
struct axis_extents;
template <class... A>
struct axis_extents<list<A...>> {
  static constexpr name_of names[] = {&dimension_name<A>..., nullptr};

  // A sum of run-time parts has no slot; its extent is computed.
  template <class Extents>
  [[gnu::always_inline]] static void write(const Extents& e, axis* to, const char* operation = nullptr) {
    if constexpr (sizeof...(A) == 0) {
      *to = {1, 0};  // unused, but compilers warn about an uninitialised array
    } else if constexpr ((is_run_time_composite<A> || ...)) {
      std::size_t i = 0;
      ((to[i++].extent = e.template extent<A>(operation)), ...);
    } else {
      write_extents(sources<typename Extents::slotted>, sizeof...(A), e.slots(), to);
    }
  }
  // Whether `sources` determine all extents, without a sum to compute.
  static constexpr bool in_slots = sizeof...(A) > 0 && !(is_run_time_composite<A> || ...);
  template <class Slotted>
  static constexpr extent_source sources[] = {source_of<A, Slotted>..., {0, 0}};
  // Writes extents and row-major strides.
  template <class Extents>
  [[gnu::always_inline]] static void write_contiguous(const Extents& e, axis* to, const char* operation = nullptr) {
    if constexpr (!in_slots) {
      write(e, to, operation);
      make_contiguous(to, sizeof...(A));
    } else {
      write_contiguous_extents(sources<typename Extents::slotted>, sizeof...(A), e.slots(), to);
    }
  }
};

[[noreturn, gnu::cold]] inline void throw_too_many(const char* operation, const axis* axes, std::size_t rank,
                                                   const name_of* names, std::size_t bytes) {
  error e;
  e << operation << ": a tensor of ";
  for (std::size_t i = 0; i < rank; ++i) { e << (i == 0 ? "" : " x ") << names[i]() << " " << axes[i].extent; }
  if (bytes > 0) { e << ", " << bytes << (bytes == 1 ? " byte" : " bytes") << " each,"; }
  raise<extent_error>(e << " has more elements than memory can hold (R15)");
}

// The number of elements along these axes with this size each (0: not allocated); throws `extent_error` on overflow.
[[gnu::noinline]] inline extent_t checked_size_of(const axis* axes, std::size_t rank, const name_of* names,
                                                  std::size_t bytes, const char* operation) {
  extent_t size = 1;
  if (!multiply(rank, [axes](std::size_t i) { return axes[i].extent; }, size) ||
      (bytes > 0 && size > static_cast<extent_t>(-1) / 2 / bytes)) {
    throw_too_many(operation, axes, rank, names, bytes);
  }
  return size;
}
template <class Axes>
[[gnu::always_inline]] inline extent_t checked_size(const axis* axes, std::size_t bytes, const char* operation) {
  return checked_size_of(axes, Axes::size, axis_extents<Axes>::names, bytes, operation);
}
// The checked number of elements; writes row-major strides.
template <class Axes>
[[gnu::always_inline]] inline extent_t checked_contiguous(axis* axes, std::size_t bytes, const char* operation) {
  const extent_t size = checked_size<Axes>(axes, bytes, operation);
  make_contiguous(axes, Axes::size);
  return size;
}

}  // namespace detail

namespace no_adl {

/// The run-time value of the extent of D in `x`.
template <class D, operand X>
  requires(detail::is_in<D, detail::dims_t<detail::shape_of<X>>>)
[[nodiscard]] extent_t extent_of(const X& x) {
  return x.extents().template extent<D>();
}
template <class D, operand X,
          class Error =
              ERROR_R1_dimension_is_not_in_the_operand<op::extent_of, over<D>, detail::operand_t<detail::shape_of<X>>>>
  requires(!detail::is_in<D, detail::dims_t<detail::shape_of<X>>>)
Error extent_of(const X& x);
DIMWISE_DETAIL_MISUSED(extent_of)

/// The number of elements of `x`.
template <operand X>
[[nodiscard]] extent_t size_of(const X& x) {
  using axes = detail::axes_for<detail::shape_of<X>>;
  detail::axis all[axes::size + 1];
  detail::axis_extents<axes>::write(x.extents(), all);
  return detail::checked_size<axes>(all, 0, "size_of");
}

}  // namespace no_adl

}  // namespace dimwise

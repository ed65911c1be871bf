// SPDX-License-Identifier: BSL-1.0
// dimwise/tensor/axis_extents.hpp -- fills an array of axes with the extents and row-major strides of a shape, and
// checks that its elements fit memory.
//
// Layer: tensor. An extent is in the type (static), in a slot of `extents` (run-time), or the sum of those of parts.
// Tests: tests/tensor/extents.test.cpp, tests/tensor/overflow.test.cpp
//
//   axis axes[Axes::size + 1];
//   axis_extents<Axes>::write(x.extents(), axes);
//   const extent_t size = checked_contiguous<Axes>(axes, sizeof(float), "tensor");   // throws extent_error
#pragma once

#include <dimwise/dim/error.hpp>
#include <dimwise/shape/shape.hpp>
#include <dimwise/support/axis.hpp>
#include <dimwise/support/library.hpp>
#include <dimwise/tensor/extents.hpp>

#include <cstddef>

namespace dimwise::detail {

// Where the extent of an axis comes from.
struct extent_source {
  extent_t static_extent;
  short slot;  // -1: the extent is static
};
template <class A, class Slotted>
inline constexpr extent_source source_of = {A::static_extent,
                                            A::static_extent == at_run_time ? place_in<Slotted, A> : short{-1}};
DIMWISE_DETAIL_LIBRARY void write_extents(const extent_source* sources, std::size_t count, const slot* slots, axis* to);

// Writes row-major strides for the extents. Returns the number of elements without checking it for overflow.
[[gnu::noinline]] constexpr extent_t make_contiguous(axis* axes, std::size_t rank) {
  extent_t size = 1;
  for (std::size_t i = rank; i-- > 0;) {
    axes[i].stride = static_cast<std::ptrdiff_t>(size);
    size *= axes[i].extent;
  }
  return size;
}
DIMWISE_DETAIL_LIBRARY extent_t write_contiguous_extents(const extent_source* sources, std::size_t count,
                                                         const slot* slots, axis* to);

// The extents of the axes A…. The arrays have one element more, because an array of zero elements is ill-formed.
template <class Axes>
struct axis_extents;
template <class... A>
struct axis_extents<list<A...>> {
  static constexpr name_of names[] = {&dimension_name<A>..., nullptr};
  template <class Slotted>
  static constexpr extent_source sources[] = {source_of<A, Slotted>..., {0, 0}};
  // Whether `sources` determine the extents. The sum of run-time parts has no slot: it is computed.
  static constexpr bool in_slots = sizeof...(A) > 0 && !(is_run_time_composite<A> || ...);

  // Writes the extents. `operation` is for the error of a sum that overflows.
  template <class Extents>
  [[gnu::always_inline]] static void write(const Extents& e, axis* to, const char* operation = nullptr) {
    if constexpr (sizeof...(A) == 0) {
      *to = {1, 0};  // unused, but compilers warn about an uninitialised array
    } else if constexpr (in_slots) {
      write_extents(sources<typename Extents::slotted>, sizeof...(A), e.slots(), to);
    } else {
      std::size_t i = 0;
      ((to[i++].extent = e.template extent<A>(operation)), ...);
    }
  }
  // Writes the extents and row-major strides.
  template <class Extents>
  [[gnu::always_inline]] static void write_contiguous(const Extents& e, axis* to, const char* operation = nullptr) {
    if constexpr (in_slots) {
      write_contiguous_extents(sources<typename Extents::slotted>, sizeof...(A), e.slots(), to);
    } else {
      write(e, to, operation);
      make_contiguous(to, sizeof...(A));
    }
  }
};

// Throws `extent_error` if so many elements were given for a tensor of another size.
DIMWISE_DETAIL_LIBRARY void check_count(std::size_t given, std::size_t size, const char* operation);

template <class... A>
constexpr extent_t static_size_of(list<A...>) {
  return product({A::static_extent...});
}
// The number of elements of these extents. Throws `extent_error` if the number overflows, or if so many elements of
// `bytes` each (0 for a shape that is not stored) exceed half of the address space.
DIMWISE_DETAIL_LIBRARY extent_t checked_size_of(const axis* axes, std::size_t rank, const name_of* names,
                                                std::size_t bytes, const char* operation);
template <class Axes>
[[gnu::always_inline]] inline extent_t checked_size(const axis* axes, std::size_t bytes, const char* operation) {
  return checked_size_of(axes, Axes::size, axis_extents<Axes>::names, bytes, operation);
}
// The same of the extents themselves: without an array of axes in each function that asks for it.
DIMWISE_DETAIL_LIBRARY extent_t checked_size_in_slots(const extent_source* sources, std::size_t rank, const slot* slots,
                                                      const name_of* names, std::size_t bytes, const char* operation);
template <class Axes, class Extents>
[[gnu::always_inline]] inline extent_t checked_size_of(const Extents& e, std::size_t bytes, const char* operation) {
  static_assert(Axes::size <= max_rank, "dimwise: more than 16 dimensions in one tensor");
  if constexpr (axis_extents<Axes>::in_slots) {
    return checked_size_in_slots(axis_extents<Axes>::template sources<typename Extents::slotted>, Axes::size, e.slots(),
                                 axis_extents<Axes>::names, bytes, operation);
  } else {
    axis axes[Axes::size + 1];
    axis_extents<Axes>::write(e, axes, operation);
    return checked_size<Axes>(axes, bytes, operation);
  }
}
// The same, and writes row-major strides.
template <class Axes>
[[gnu::always_inline]] inline extent_t checked_contiguous(axis* axes, std::size_t bytes, const char* operation) {
  const extent_t size = checked_size<Axes>(axes, bytes, operation);
  make_contiguous(axes, Axes::size);
  return size;
}

}  // namespace dimwise::detail

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/tensor/axis_extents_definitions.hpp>
#endif

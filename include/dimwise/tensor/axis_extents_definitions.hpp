// SPDX-License-Identifier: BSL-1.0
// dimwise/tensor/axis_extents_definitions.hpp -- extents and strides of axes, and the number of their elements.
//
// Layer: tensor. Compiled once if a program links the library (support/library.hpp).
// Tests: tests/tensor/extents.test.cpp
#pragma once

#include <dimwise/tensor/axis_extents.hpp>

namespace dimwise::detail {

DIMWISE_DETAIL_LIBRARY void write_extents(const extent_source* sources, std::size_t count, const slot* slots,
                                          axis* to) {
  for (std::size_t i = 0; i < count; ++i) {
    to[i].extent = sources[i].slot < 0 ? sources[i].static_extent : slots[sources[i].slot].extent;
  }
}
DIMWISE_DETAIL_LIBRARY extent_t write_contiguous_extents(const extent_source* sources, std::size_t count,
                                                         const slot* slots, axis* to) {
  write_extents(sources, count, slots, to);
  return make_contiguous(to, count);
}

DIMWISE_DETAIL_LIBRARY void check_count(std::size_t given, std::size_t size, const char* operation) {
  if (given != size) {
    raise<extent_error>(error{} << operation << ": " << given << " values were given for " << size
                                << " elements (R15)");
  }
}
[[noreturn, gnu::cold]] inline void throw_too_many(const char* operation, const axis* axes, std::size_t rank,
                                                   const name_of* names, std::size_t bytes) {
  error e;
  e << operation << ": a tensor of ";
  for (std::size_t i = 0; i < rank; ++i) { e << (i == 0 ? "" : " x ") << names[i]() << " " << axes[i].extent; }
  if (bytes > 0) { e << ", " << bytes << (bytes == 1 ? " byte" : " bytes") << " each,"; }
  raise<extent_error>(e << " has more elements than memory can hold (R15)");
}
DIMWISE_DETAIL_LIBRARY extent_t checked_size_of(const axis* axes, std::size_t rank, const name_of* names,
                                                std::size_t bytes, const char* operation) {
  extent_t size = 1;
  if (!multiply(rank, [axes](std::size_t i) { return axes[i].extent; }, size) ||
      (bytes > 0 && size > static_cast<extent_t>(-1) / 2 / bytes)) {
    throw_too_many(operation, axes, rank, names, bytes);
  }
  return size;
}
DIMWISE_DETAIL_LIBRARY extent_t checked_size_in_slots(const extent_source* sources, std::size_t rank, const slot* slots,
                                                      const name_of* names, std::size_t bytes, const char* operation) {
  axis axes[max_rank];
  write_extents(sources, rank, slots, axes);
  return checked_size_of(axes, rank, names, bytes, operation);
}

}  // namespace dimwise::detail

// SPDX-License-Identifier: BSL-1.0
// dimwise/kernels/loops/nest.hpp -- nested loops over strided memory that advance several pointers at once.
//
// Layer: kernels. The rank is a run-time value, so that one loop serves all shapes and users do not compile one for
// each.
// Tests: tests/eval/*.test.cpp, tests/expr/*.test.cpp
#pragma once

#include <dimwise/kernels/dispatch/configuration.hpp>
#include <dimwise/support/axis.hpp>

#include <cstddef>
#include <limits>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION {

using dimwise::detail::axis;
using dimwise::detail::max_rank;

// Nested loops that advance K pointers at once; the last axis is the innermost.
template <std::size_t K>
struct loop_nest {
  std::size_t rank = 0;
  std::size_t extent[max_rank] = {};
  std::ptrdiff_t stride[K][max_rank] = {};

  constexpr void add(std::size_t n, const std::ptrdiff_t (&by)[K]) {
    if (n == 1) { return; }
    if (rank > 0 && follows(n, by)) {
      extent[rank - 1] *= n;
    } else {
      extent[rank++] = n;
    }
    for (std::size_t k = 0; k < K; ++k) { stride[k][rank - 1] = by[k]; }
  }
  [[nodiscard]] constexpr bool empty() const {
    for (std::size_t i = 0; i < rank; ++i) {
      if (extent[i] == 0) { return true; }
    }
    return false;
  }
  // The number of iterations of the innermost body.
  [[nodiscard]] constexpr std::size_t size() const {
    std::size_t n = 1;
    for (std::size_t i = 0; i < rank; ++i) { n *= extent[i]; }
    return n;
  }

 private:
  // Whether the new inner axis is contiguous with the one outside it for every pointer, so that both form one loop.
  [[nodiscard]] constexpr bool follows(std::size_t n, const std::ptrdiff_t (&by)[K]) const {
    if (n == 0 || extent[rank - 1] == 0) { return false; }
    for (std::size_t k = 0; k < K; ++k) {
      if (stride[k][rank - 1] != static_cast<std::ptrdiff_t>(static_cast<std::size_t>(by[k]) * n)) { return false; }
    }
    // With strides of 0 the number of iterations may overflow.
    return extent[rank - 1] <= std::numeric_limits<std::size_t>::max() / n;
  }
};

// Calls body(offsets, n, steps) for every innermost row; offsets are advanced by strides, without multiplications per
// element. `for_each_row` does the same in one function for all bodies, which are called through a pointer.
template <std::size_t K, class Body>
constexpr void walk_rows(const loop_nest<K>& nest, Body&& body) {
  if (nest.empty()) { return; }
  std::ptrdiff_t offset[K] = {};
  std::ptrdiff_t step[K] = {};
  if (nest.rank == 0) {
    body(offset, std::size_t{1}, step);
    return;
  }
  const std::size_t inner = nest.rank - 1;
  for (std::size_t k = 0; k < K; ++k) { step[k] = nest.stride[k][inner]; }
  std::size_t counter[max_rank] = {};
  for (;;) {
    body(offset, nest.extent[inner], step);
    std::size_t i = inner;
    for (;;) {
      if (i == 0) { return; }
      --i;
      for (std::size_t k = 0; k < K; ++k) { offset[k] += nest.stride[k][i]; }
      if (++counter[i] < nest.extent[i]) { break; }
      for (std::size_t k = 0; k < K; ++k) {
        offset[k] -= static_cast<std::ptrdiff_t>(static_cast<std::size_t>(nest.stride[k][i]) * nest.extent[i]);
      }
      counter[i] = 0;
    }
  }
}

// A function object with its call function.
template <std::size_t K>
struct row_body {
  const void* object;
  void (*call)(const void* object, const std::ptrdiff_t (&offset)[K], std::size_t n, const std::ptrdiff_t (&step)[K]);

  void operator()(const std::ptrdiff_t (&offset)[K], std::size_t n, const std::ptrdiff_t (&step)[K]) const {
    call(object, offset, n, step);
  }
};
template <std::size_t K>
[[gnu::noinline]] void walk_rows_of(const loop_nest<K>& nest, row_body<K> body) {
  walk_rows(nest, body);
}
template <std::size_t K, class Body>
void for_each_row(const loop_nest<K>& nest, const Body& body) {
  walk_rows_of<K>(
      nest, {&body, [](const void* object, const std::ptrdiff_t(&offset)[K], std::size_t n,
                       const std::ptrdiff_t(&step)[K]) { (*static_cast<const Body*>(object))(offset, n, step); }});
}

/// to = from, elementwise; element types may differ.
template <class To, class From>
void copy(const loop_nest<2>& nest, To* to, const From* from) {
  for_each_row(nest, [&](const std::ptrdiff_t(&o)[2], std::size_t n, const std::ptrdiff_t(&s)[2]) {
    To* t = to + o[0];
    const From* f = from + o[1];
    if (s[0] == 1 && s[1] == 1) {
      for (std::size_t i = 0; i < n; ++i) { t[i] = static_cast<To>(f[i]); }
    } else {
      for (std::size_t i = 0; i < n; ++i) {
        t[static_cast<std::ptrdiff_t>(i) * s[0]] = static_cast<To>(f[static_cast<std::ptrdiff_t>(i) * s[1]]);
      }
    }
  });
}

/// Calls body(to offset, from offset, row) for every element outside the row; `row` walks the elements inside it.
template <class Body>
void for_each_element(const loop_nest<2>& outside, Body&& body) {
  for_each_row(outside, [&](const std::ptrdiff_t(&o)[2], std::size_t n, const std::ptrdiff_t(&s)[2]) {
    for (std::size_t i = 0; i < n; ++i) {
      body(o[0] + static_cast<std::ptrdiff_t>(i) * s[0], o[1] + static_cast<std::ptrdiff_t>(i) * s[1]);
    }
  });
}

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION

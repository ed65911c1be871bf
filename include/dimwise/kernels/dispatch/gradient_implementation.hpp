// SPDX-License-Identifier: BSL-1.0
// dimwise/kernels/dispatch/gradient_implementation.hpp -- the kernels of the backward pass for one architecture,
// instantiated from the templates.
//
// Layer: kernels. Compiled once per architecture under src/, or in the user's file for the user's flags
// (active_gradients.hpp).
#pragma once

#include <dimwise/kernels/attention_gradient/backward.hpp>
#include <dimwise/kernels/dispatch/configuration.hpp>
#include <dimwise/kernels/dispatch/gradient_table.hpp>
#include <dimwise/kernels/math_gradient.hpp>
#include <dimwise/kernels/optimiser.hpp>
#include <dimwise/kernels/rows/backward.hpp>
#include <dimwise/kernels/rows/cross_entropy.hpp>

#include <cstddef>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION {

namespace detail {

template <class Arch>
std::size_t attention_gradient_bytes(const attention_gradient_call_of<element_of<Arch>>& c, std::size_t workers) {
  return attention_gradient_scratch_bytes<Arch>(c, workers);
}
template <class Arch>
void attention_gradient_of_heads(const attention_gradient_call_of<element_of<Arch>>& c, void* scratch,
                                 const runner& threads) {
  kernels::attention_gradient<Arch>(c, scratch, threads);
}

template <class Arch>
void softmax_rows_gradient(const rows_gradient_call_of<element_of<Arch>>& c) {
  for (std::size_t r = 0; r < c.rows; ++r) {
    const auto row = static_cast<std::ptrdiff_t>(r);
    softmax_row_gradient<Arch>(c.n, c.in + row * c.in_row, c.gradient + row * c.gradient_row, c.out + row * c.out_row);
  }
}
template <class Arch>
void log_softmax_rows_gradient(const rows_gradient_call_of<element_of<Arch>>& c) {
  for (std::size_t r = 0; r < c.rows; ++r) {
    const auto row = static_cast<std::ptrdiff_t>(r);
    log_softmax_row_gradient<Arch>(c.n, c.in + row * c.in_row, c.gradient + row * c.gradient_row,
                                   c.out + row * c.out_row);
  }
}
template <class Arch>
std::size_t norm_gradient_bytes(const rows_gradient_call_of<element_of<Arch>>& c) {
  return norm_gradient_scratch_bytes(c);
}
template <class Arch, bool Centred>
void norm_gradient_call(const rows_gradient_call_of<element_of<Arch>>& c, void* scratch, const runner& threads) {
  norm_gradient<Arch, Centred>(c, scratch, threads);
}
template <class Arch>
void scatter_add_call(const scatter_call_of<element_of<Arch>>& c, const runner& threads) {
  kernels::scatter_add<Arch>(c, threads);
}
template <class Arch>
void cross_entropy_rows(const cross_entropy_call_of<element_of<Arch>>& c) {
  kernels::cross_entropy<Arch>(c);
}
template <class Arch>
void map_all_gradient(function f, std::size_t n, const element_of<Arch>* x, const element_of<Arch>* g,
                      element_of<Arch>* out) {
  map_gradient<Arch>(f, n, x, g, out);
}
}  // namespace detail

/// The kernels of `Arch` for the backward pass.
template <class Arch>
inline constexpr element_gradient_table<element_of<Arch>> gradient_table_of = {
    .softmax_gradient = &detail::softmax_rows_gradient<Arch>,
    .log_softmax_gradient = &detail::log_softmax_rows_gradient<Arch>,
    .norm_gradient_bytes = &detail::norm_gradient_bytes<Arch>,
    .standardize_gradient = &detail::norm_gradient_call<Arch, true>,
    .root_mean_square_gradient = &detail::norm_gradient_call<Arch, false>,
    .map_gradient = &detail::map_all_gradient<Arch>,
    .attention_gradient_bytes = &detail::attention_gradient_bytes<Arch>,
    .attention_gradient = &detail::attention_gradient_of_heads<Arch>,
    .scatter_add = &detail::scatter_add_call<Arch>,
    .cross_entropy = &detail::cross_entropy_rows<Arch>,
    .adam = &adam_step<Arch>,
    .sum_of_squares = &sum_of_squares<Arch>,
};

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION

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
}  // namespace detail

/// The kernels of `Arch` for the backward pass.
template <class Arch>
inline constexpr element_gradient_table<element_of<Arch>> gradient_table_of = {
    .softmax_gradient = &detail::softmax_rows_gradient<Arch>,
    .log_softmax_gradient = &detail::log_softmax_rows_gradient<Arch>,
    .norm_gradient_bytes = &norm_gradient_scratch_bytes<element_of<Arch>>,
    .standardize_gradient = &norm_gradient<Arch, true, const runner>,
    .root_mean_square_gradient = &norm_gradient<Arch, false, const runner>,
    .map_gradient = &map_gradient<Arch>,
    .attention_gradient_bytes = &attention_gradient_scratch_bytes<Arch>,
    .attention_gradient = &attention_gradient<Arch, const runner>,
    .scatter_add = &scatter_add<Arch, const runner>,
    .cross_entropy = &cross_entropy<Arch>,
    .adam = &adam_step<Arch>,
    .sum_of_squares = &sum_of_squares<Arch>,
};

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION

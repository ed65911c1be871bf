// SPDX-License-Identifier: BSL-1.0
// dimwise/kernels/dispatch/active_gradients.hpp -- selection of the kernels of the backward pass.
//
// Layer: kernels. Separate from active.hpp, so that programs that do not train do not compile them.
// Tests: tests/kernels/attention_gradient/, tests/kernels/rows/
//
//   kernels::active_gradients().map_gradient(function::gelu, n, x, g, out);
#pragma once

#include <dimwise/kernels/dispatch/active.hpp>
#include <dimwise/kernels/dispatch/configuration.hpp>

#include <type_traits>

#if defined(DIMWISE_COMPILED_KERNELS) || defined(DIMWISE_PLAIN_ONLY)

#include <dimwise/kernels/dispatch/gradient_table.hpp>

namespace dimwise::kernels {
/// The kernels of the backward pass for the architecture of active().
[[nodiscard]] const gradient_table& active_gradients() noexcept;
/// Those of double.
[[nodiscard]] const element_gradient_table<double>& active_double_gradients() noexcept;
}  // namespace dimwise::kernels

#else

#include <dimwise/kernels/dispatch/gradient_implementation.hpp>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION {
/// The kernels of the backward pass for the compiler's flags.
template <class Arch = default_arch>
[[nodiscard]] const gradient_table& active_gradients() noexcept {
  return gradient_table_of<Arch>;
}
/// Those of double.
template <class Arch = in_double<default_arch>>
[[nodiscard]] const element_gradient_table<double>& active_double_gradients() noexcept {
  return gradient_table_of<Arch>;
}
}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION

#endif

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION {
/// The kernels of the backward pass for elements of T, float or double. Nothing calls it where none are available.
template <class T>
[[nodiscard]] const element_gradient_table<T>& active_gradients_for() noexcept {
  if constexpr (!available) {
    __builtin_unreachable();
  } else if constexpr (std::is_same_v<T, double>) {
    return active_double_gradients();
  } else {
    return active_gradients();
  }
}
}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION

// SPDX-License-Identifier: BSL-1.0
// dimwise/kernels/dispatch/active.hpp -- the kernels of a program, selected by its configuration (configuration.hpp).
//
// Layer: kernels. All files of one program must have the same configuration: the CMake targets set it, and linking
// files of two configurations fails.
// Tests: tests/odr/mixed.py
#pragma once

#include <dimwise/kernels/dispatch/configuration.hpp>

#include <type_traits>

#if defined(DIMWISE_PLAIN_ONLY) || defined(DIMWISE_COMPILED_KERNELS)

#include <dimwise/kernels/dispatch/table.hpp>

namespace dimwise::kernels {
/// The best kernels that this machine supports; selected once. Not defined where none are available.
[[nodiscard]] const table& active() noexcept;
/// The kernels of double for the architecture of active().
[[nodiscard]] const element_table<double>& active_doubles() noexcept;

inline namespace DIMWISE_CONFIGURATION {
#if defined(DIMWISE_PLAIN_ONLY)
inline constexpr bool available = false;
#else
inline constexpr bool available = true;
#endif
using active_kernels = table;
using active_double_kernels = element_table<double>;
}  // namespace DIMWISE_CONFIGURATION
}  // namespace dimwise::kernels

#else

#include <dimwise/kernels/dispatch/implementation.hpp>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION {
inline constexpr bool available = true;
/// The kernels for the compiler's flags; unused kernels are not compiled.
using active_kernels = kernels_of<default_arch>;
[[nodiscard]] inline const active_kernels& active() noexcept {
  static constexpr active_kernels all{};
  return all;
}
/// The kernels of double for the compiler's flags. A template: programs without double compile none.
using active_double_kernels = element_kernels_of<in_double<default_arch>>;
template <class Kernels = active_double_kernels>
[[nodiscard]] const Kernels& active_doubles() noexcept {
  static constexpr Kernels all{};
  return all;
}
}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION

#endif

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION {
/// The kernels for elements of T, float or double. Nothing calls it where none are available.
template <class T>
using active_kernels_for = std::conditional_t<std::is_same_v<T, double>, active_double_kernels, active_kernels>;
template <class T>
[[nodiscard, gnu::always_inline]] inline const active_kernels_for<T>& active_for() noexcept {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>, "dimwise: no kernels compute in this type");
  if constexpr (!available) {
    __builtin_unreachable();
  } else if constexpr (std::is_same_v<T, double>) {
    return active_doubles();
  } else {
    return active();
  }
}
}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION

// An inline namespace does not cover the user's inline functions and templates: the linker keeps one definition of
// each, and with two configurations the link order would decide. Each configuration therefore defines one symbol, in a
// section group of its name: files of one configuration share it, files of two define it twice. The definition is
// inside a function, because link-time optimisation would treat one outside as a definition per file.
#if defined(__ELF__)
#define DIMWISE_DETAIL_TEXT(name) DIMWISE_DETAIL_TEXT_AS(name)
#define DIMWISE_DETAIL_TEXT_AS(name) #name
namespace dimwise::kernels::inline DIMWISE_CONFIGURATION {
[[gnu::used, gnu::noinline]] inline void is_the_configuration_of_all_files() {
  asm(".pushsection .rodata.dimwise,\"aG\",%progbits,dimwise_kernels_" DIMWISE_DETAIL_TEXT(DIMWISE_CONFIGURATION)
      ",comdat\n"
      ".hidden dimwise_is_compiled_with_the_same_kernels_in_all_files\n"
      ".globl dimwise_is_compiled_with_the_same_kernels_in_all_files\n"
      "dimwise_is_compiled_with_the_same_kernels_in_all_files: .byte 0\n"
      ".popsection\n");
}
}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION
#undef DIMWISE_DETAIL_TEXT
#undef DIMWISE_DETAIL_TEXT_AS
#endif

// SPDX-License-Identifier: BSL-1.0
// dimwise/kernels/active.hpp -- the kernels that this program uses.
//
// Layer: kernels.
//   DIMWISE_COMPILED_KERNELS   the target dimwise::kernels, which picks an architecture when the program runs
//   DIMWISE_PLAIN_ONLY         none: the plain evaluator alone, the fastest to compile
//   neither                    header-only, for the architecture that the compiler's flags allow
// All files of one program are compiled with the same choice; the CMake targets see to it.
#pragma once

#if defined(DIMWISE_PLAIN_ONLY)

namespace dimwise::kernels {
inline constexpr bool available = false;
}

#elif defined(DIMWISE_COMPILED_KERNELS)

#include <dimwise/kernels/table.hpp>

namespace dimwise::kernels {
inline constexpr bool available = true;
/// The best kernels that this machine runs; chosen once.
[[nodiscard]] const table& active() noexcept;
}  // namespace dimwise::kernels

#else

#include <dimwise/kernels/implementation.hpp>

namespace dimwise::kernels {
inline constexpr bool available = true;
/// The kernels for the compiler's flags.
template <class Arch = default_arch>
[[nodiscard]] const table& active() noexcept {
  return table_of<Arch>;
}
}  // namespace dimwise::kernels

#endif

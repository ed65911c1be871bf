// SPDX-License-Identifier: BSL-1.0
// dimwise/kernels/active.hpp -- the kernels that this program uses.
//
// Layer: kernels.
//   DIMWISE_COMPILED_KERNELS   the target dimwise::kernels, which picks an architecture when the program runs
//   DIMWISE_PLAIN_ONLY         none: the plain evaluator alone, the fastest to compile
//   neither                    header-only, for the architecture that the compiler's flags allow
// All files of one program are compiled with the same choice: the CMake targets see to it, and the linker refuses
// others. Tests: tests/odr/mixed.py
#pragma once

#if defined(DIMWISE_PLAIN_ONLY)

#define DIMWISE_DETAIL_KERNELS plain

namespace dimwise::kernels {
inline constexpr bool available = false;
}

#elif defined(DIMWISE_COMPILED_KERNELS)

#include <dimwise/kernels/table.hpp>

#define DIMWISE_DETAIL_KERNELS compiled

namespace dimwise::kernels {
inline constexpr bool available = true;
/// The best kernels that this machine runs; chosen once.
[[nodiscard]] const table& active() noexcept;
}  // namespace dimwise::kernels

#else

#include <dimwise/kernels/implementation.hpp>

#define DIMWISE_DETAIL_KERNELS DIMWISE_DETAIL_DEFAULT_ARCH

namespace dimwise::kernels {
inline constexpr bool available = true;
/// The kernels for the compiler's flags.
template <class Arch = default_arch>
[[nodiscard]] const table& active() noexcept {
  return table_of<Arch>;
}
}  // namespace dimwise::kernels

#endif

// The linker keeps one definition of an inline function or of an instance of a template, also of the user's own. Where
// files chose different kernels, their order would decide for both. So each choice defines one symbol, in a section
// group that is named after the choice: files of one choice share it, files of two choices define it twice. The
// definition is inside a function because link-time optimisation takes what is outside for one definition for each
// file.
#if defined(__ELF__)
#define DIMWISE_DETAIL_MARK(name) DIMWISE_DETAIL_MARK_AS(name, #name)
#define DIMWISE_DETAIL_MARK_AS(name, text)                                     \
  namespace dimwise::kernels::detail {                                         \
  [[gnu::used, gnu::noinline]] inline void is_compiled_with_kernels_##name() { \
    asm(".pushsection .rodata.dimwise,\"aG\",%progbits,dimwise_kernels_" text  \
        ",comdat\n"                                                            \
        ".hidden dimwise_is_compiled_with_the_same_kernels_in_all_files\n"     \
        ".globl dimwise_is_compiled_with_the_same_kernels_in_all_files\n"      \
        "dimwise_is_compiled_with_the_same_kernels_in_all_files: .byte 0\n"    \
        ".popsection\n");                                                      \
  }                                                                            \
  }
#define DIMWISE_DETAIL_MARK_THIS(name) DIMWISE_DETAIL_MARK(name)
DIMWISE_DETAIL_MARK_THIS(DIMWISE_DETAIL_KERNELS)
#undef DIMWISE_DETAIL_MARK
#undef DIMWISE_DETAIL_MARK_AS
#undef DIMWISE_DETAIL_MARK_THIS
#endif
#undef DIMWISE_DETAIL_KERNELS

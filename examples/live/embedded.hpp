// SPDX-License-Identifier: BSL-1.0
// examples/live/embedded.hpp -- the bytes of the file DIMWISE_EMBEDDED, embedded in the program.
#pragma once

#include <cstddef>
#include <span>

// clang-format off
asm(R"(
  .section .rodata.embedded,"",@
  .globl embedded_begin
  .p2align 6
embedded_begin:
  .incbin ")" DIMWISE_EMBEDDED R"("
.Lembedded_end:
  .size embedded_begin, .Lembedded_end - embedded_begin
  .globl embedded_size
  .p2align 2
embedded_size:
  .int32 .Lembedded_end - embedded_begin
  .size embedded_size, 4
)");
// clang-format on

extern "C" const std::byte embedded_begin[];
extern "C" const unsigned embedded_size;

inline std::span<const std::byte> embedded() { return {embedded_begin, embedded_size}; }

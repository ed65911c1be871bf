// SPDX-License-Identifier: BSL-1.0
// dimwise/ranks/messages/hash_elements.hpp -- a number by which ranks compare elements without sending them.
//
// Layer: ranks.
// Tests: tests/ranks/training/stages.test.cpp, tests/ranks/training/stage_files.test.cpp
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace dimwise::ranks::detail {

// A number that differs if the elements do, except by chance; `number` is that of the elements before them.
inline std::uint64_t hash_elements(const std::byte* at, std::size_t size, std::uint64_t number = 0) {
  for (std::size_t left = size; left > 0;) {
    std::uint64_t word = 0;
    const std::size_t bytes = left < sizeof(word) ? left : sizeof(word);
    std::memcpy(&word, at, bytes);
    number = (number ^ word) * 0x9E3779B97F4A7C15U;
    number ^= number >> 32U;
    at += bytes;
    left -= bytes;
  }
  return number;
}

}  // namespace dimwise::ranks::detail

// tests/fuzz/source.hpp -- random decisions that follow from a seed alone, the same on every machine.
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace fuzz {

/// splitmix64: every state is a good one, and a seed is a state.
class source {
 public:
  explicit source(std::uint64_t seed) : state_(seed) {}

  std::uint64_t bits() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15U);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
  }
  /// A number in [0, n), n > 0.
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(bits() % n); }
  /// A number in [low, high].
  std::ptrdiff_t between(std::ptrdiff_t low, std::ptrdiff_t high) {
    return low + static_cast<std::ptrdiff_t>(below(static_cast<std::size_t>(high - low + 1)));
  }
  bool one_in(std::size_t n) { return below(n) == 0; }
  /// A number in [0, 1).
  double unit() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
  template <class T, std::size_t N>
  const T& one_of(const T (&choices)[N]) {
    return choices[below(N)];
  }

 private:
  std::uint64_t state_;
};

/// How numbers are distributed. Bounds scale with magnitudes, so that none of these needs a bound of its own.
enum class spread : unsigned char { even, normal, small, large, few, sparse, signed_zeros, powers, whole };
inline constexpr std::size_t spreads = 9;
const char* name_of(spread s);

/// Numbers of one distribution.
class numbers {
 public:
  numbers(source& from, spread how) : from_(&from), how_(how) {}
  explicit numbers(source& from) : numbers(from, static_cast<spread>(from.below(spreads))) {}
  [[nodiscard]] spread how() const { return how_; }
  float operator()();

 private:
  source* from_;
  spread how_;
};

}  // namespace fuzz

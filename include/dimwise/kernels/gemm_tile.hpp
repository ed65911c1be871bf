// dimwise/kernels/gemm_tile.hpp -- the register tile of a matrix product: the one loop where the time goes.
//
// Layer: kernels. Includes: simd.hpp and light standard headers only.
// Tests: tests/kernels/gemm.test.cpp
//
// A tile is `rows` x `vectors` registers of C that stay in registers while the loop walks along the contracted
// extent k: each step loads `vectors` registers of B and broadcasts `rows` numbers of A. A is read where it lies, B
// is a panel of `columns` adjacent columns, packed (step == its width) or in place (step == the row stride).
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/kernels/simd.hpp>

#include <cstddef>
#include <utility>

namespace dimwise::kernels {

/// The shape of the register tile for `Arch`, and how much of k one pass takes.
///
/// Accumulators + one step of B + one number of A fit the register file: 24 + 4 + 1 of 32, 12 + 2 + 1 of 16, 12 + 3 + 1
/// of 16.
template <class Arch>
struct gemm_tile {
  static constexpr bool many_registers = is_avx512<Arch> || is_neon64<Arch>;
  static constexpr std::size_t rows = many_registers || lanes<Arch> == 8 ? 6 : 4;
  static constexpr std::size_t vectors = many_registers ? 4 : lanes<Arch> == 8 ? 2 : 3;
  static constexpr std::size_t columns = vectors * lanes<Arch>;
  /// Rows of a packed panel. Measured on Zen 5, 512 x 768 x 768: 192 gives 92 % of peak, 384 95 %, 768 96 %; the panel
  /// (96 KB on AVX-512) streams from the second-level cache at a third of what that delivers, and each pass over k less
  /// saves a load and a store of the sums.
  static constexpr std::size_t depth = 384;
};

namespace detail {

// Calls f with the constants 0, 1, ...: unrolls without trusting the optimiser, so that an array of registers never
// becomes memory, at -O2 as at -O3.
// A lambda takes always_inline in the GNU position only.
template <class F, std::size_t... Index>
[[gnu::always_inline]] inline void unroll(F f, std::index_sequence<Index...>) {
  (f(std::integral_constant<std::size_t, Index>{}), ...);
}

template <std::size_t Count, class F>
[[gnu::always_inline]] inline void unroll(F f) {
  unroll(f, std::make_index_sequence<Count>{});
}

// What one tile reads. `a` and `b` point at the tile's first row and first column.
struct tile_input {
  std::size_t depth;
  const float* a;
  std::ptrdiff_t a_row;
  std::ptrdiff_t a_step;
  const float* b;
  std::ptrdiff_t b_step;
  std::size_t tail;  // lanes of the last register of B that exist; looked at by the kernels with a tail only
};

template <class Arch, std::size_t Vectors, bool Tail>
[[gnu::always_inline]] inline void load_step(floats<Arch> (&b)[Vectors], const float* from, std::size_t tail) noexcept {
  unroll<Vectors>([&](auto v) __attribute__((always_inline)) {
    if constexpr (Tail && v + 1 == Vectors) b[v] = load_partial<Arch>(from + v * lanes<Arch>, tail);
    else b[v] = load<Arch>(from + v * lanes<Arch>);
  });
}

// acc += A B, in the order of k: whatever the tile, a number of C is summed in the same order.
template <class Arch, std::size_t Rows, std::size_t Vectors, bool Tail>
[[gnu::always_inline]] inline void tile_loop(const tile_input& in, floats<Arch> (&acc)[Rows * Vectors]) noexcept {
  const float* a = in.a;
  const float* b = in.b;
  // Four steps ahead: further ones push out what is in use, nearer ones come too late from the second-level cache.
  const std::ptrdiff_t ahead = 4 * in.b_step;
  for (std::size_t step = 0; step < in.depth; ++step) {
    floats<Arch> row[Vectors];
    load_step<Arch, Vectors, Tail>(row, b, in.tail);
    if constexpr (lanes<Arch> == 16) {
      unroll<Vectors>([&](auto v) __attribute__((always_inline)) { __builtin_prefetch(b + ahead + v * lanes<Arch>); });
    }
    unroll<Rows>([&](auto r) __attribute__((always_inline)) {
      const floats<Arch> number = broadcast<Arch>(a[static_cast<std::ptrdiff_t>(r) * in.a_row]);
      unroll<Vectors>([&](auto v) __attribute__((always_inline)) {
        acc[r * Vectors + v] = fma<Arch>(number, row[v], acc[r * Vectors + v]);
      });
    });
    a += in.a_step;
    b += in.b_step;
  }
}

// Sums of a tile, rows after rows without gaps, from zero or from what `sums` holds.
template <class Arch, std::size_t Rows, std::size_t Vectors, bool Tail>
[[gnu::noinline]] void tile_sum(const tile_input& in, float* sums, bool resume) noexcept {
  floats<Arch> acc[Rows * Vectors];
  unroll<Rows * Vectors>([&](auto i) __attribute__((always_inline)) {
    acc[i] = resume ? load<Arch>(sums + i * lanes<Arch>) : broadcast<Arch>(0.0F);
  });
  tile_loop<Arch, Rows, Vectors, Tail>(in, acc);
  unroll<Rows * Vectors>([&](auto i) __attribute__((always_inline)) { store<Arch>(sums + i * lanes<Arch>, acc[i]); });
}

// The whole tile, last pass, unit column stride: the epilogue works on the registers. Only this shape has an epilogue
// inside; the odd ones go through `sums`, or every epilogue would compile dozens of kernels.
template <class Arch, class Epilogue>
[[gnu::noinline]] void tile_finish(const tile_input& in, const float* sums, bool resume, float* c, std::ptrdiff_t c_row,
                                   std::size_t row, std::size_t column, const Epilogue& epilogue) noexcept {
  constexpr std::size_t rows = gemm_tile<Arch>::rows;
  constexpr std::size_t vectors = gemm_tile<Arch>::vectors;
  floats<Arch> acc[rows * vectors];
  unroll<rows * vectors>([&](auto i) __attribute__((always_inline)) {
    acc[i] = resume ? load<Arch>(sums + i * lanes<Arch>) : broadcast<Arch>(0.0F);
  });
  tile_loop<Arch, rows, vectors, false>(in, acc);
  unroll<rows * vectors>([&](auto i) __attribute__((always_inline)) {
    constexpr std::size_t r = i / vectors;
    constexpr std::size_t first = i % vectors * lanes<Arch>;
    store<Arch>(c + static_cast<std::ptrdiff_t>(r) * c_row + first,
                epilogue(acc[i], row + r, column + first, lanes<Arch>));
  });
}

using tile_function = void (*)(const tile_input&, float*, bool) noexcept;

template <class Arch, bool Tail, std::size_t... Index>
constexpr tile_function tile_at(std::size_t rows, std::size_t vectors, std::index_sequence<Index...>) noexcept {
  constexpr std::size_t wide = gemm_tile<Arch>::vectors;
  constexpr tile_function table[] = {&tile_sum<Arch, Index / wide + 1, Index % wide + 1, Tail>...};
  return table[(rows - 1) * wide + vectors - 1];
}

// The kernel for a tile of `rows` x `vectors`, both at least 1.
template <class Arch, bool Tail>
constexpr tile_function tile_for(std::size_t rows, std::size_t vectors) noexcept {
  return tile_at<Arch, Tail>(rows, vectors,
                             std::make_index_sequence<gemm_tile<Arch>::rows * gemm_tile<Arch>::vectors>{});
}

}  // namespace detail

}  // namespace dimwise::kernels

// dimwise/kernels/gemm/tile.hpp -- the register tile (micro-kernel) of a matrix product.
//
// Layer: kernels. Includes: simd.hpp and light standard headers only.
// Tests: tests/kernels/gemm/product.test.cpp
//
// A tile is `rows` x `vectors` registers of C that stay in registers while the loop runs along the contracted extent k:
// each step loads `vectors` registers of B and broadcasts `rows` elements of A. A is read in place, or its rows are
// packed (packed_rows.hpp). B is a panel of `columns` adjacent columns, packed (step == its width) or in place (step
// == the row stride).
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/kernels/dispatch/configuration.hpp>
#include <dimwise/kernels/simd.hpp>

#include <cstddef>
#include <utility>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION {

/// The shape of the register tile for `Arch`, and the extent of k in one pass.
///
/// Accumulators, one step of B and one element of A fit the register file: 24 + 4 + 1 of 32, 12 + 2 + 1 of 16, 12 + 3 +
/// 1 of 16.
template <class Arch>
struct gemm_tile {
  static constexpr bool many_registers = is_avx512<Arch> || is_neon64<Arch>;
  static constexpr std::size_t rows = many_registers || register_bytes<Arch> == 32 ? 6 : 4;
  static constexpr std::size_t vectors = many_registers ? 4 : register_bytes<Arch> == 32 ? 2 : 3;
  static constexpr std::size_t columns = vectors * lanes<Arch>;
  /// Rows of a packed panel. Measured on Zen 5, 512 x 768 x 768: 192 gives 92 % of peak, 384 95 %, 768 96 %; the panel
  /// (96 KB on AVX-512) streams from the L2 cache at a third of its bandwidth, and each pass over k less saves a load
  /// and a store of the sums.
  /// On Emerald Rapids, whose cores multiply twice as much per cycle, tiles of 6 x 4, 8 x 3, 12 x 2 and 14 x 2 with
  /// depths of 128 to 384 differ by less than two runs of one of them: 75 to 85 % (OpenBLAS: 77 to 86 %).
  static constexpr std::size_t depth = 384;
};

namespace detail {

// The inputs of one tile. `a` and `b` point at its first row and first column.
template <class Arch>
struct tile_input {
  std::size_t depth;
  const element_of<Arch>* a;
  std::ptrdiff_t a_row;
  std::ptrdiff_t a_step;
  const element_of<Arch>* b;
  std::ptrdiff_t b_step;
  std::size_t tail;  // valid lanes of the last register of B; only kernels with a tail use it
};

// Whether a partial register is loaded and stored as fast as a whole one (AVX-512), and whether this is possible
// without scalar accesses.
template <class Arch>
inline constexpr bool free_tails = is_avx512<Arch>;
template <class Arch>
inline constexpr bool has_tails = is_avx512<Arch> || is_avx2<Arch>;

// Register v of a row of a tile; the last one may be partial.
template <class Arch, std::size_t Vectors, bool Tail>
[[nodiscard, gnu::always_inline]] inline floats<Arch> load_register(const element_of<Arch>* row, std::size_t v,
                                                                    std::size_t tail) noexcept {
  const element_of<Arch>* at = row + v * lanes<Arch>;
  return Tail && v + 1 == Vectors ? load_partial<Arch>(at, tail) : load<Arch>(at);
}

// The memory prefetched into the L2 cache while a tile computes: none, or what is read later, `step` bytes
// further with each step of k.
struct nothing_ahead {
  [[gnu::always_inline]] void fetch() const noexcept {}
};
struct bytes_ahead {
  const char* at;
  std::ptrdiff_t step;

  [[gnu::always_inline]] void fetch() noexcept {
    __builtin_prefetch(at, 0, 2);
    at += step;
  }
};

// acc += A B, in the order of k: the order of additions for an element of C does not depend on the tile.
template <class Arch, std::size_t Rows, std::size_t Vectors, bool Tail, class Later = nothing_ahead>
[[gnu::always_inline]] inline void tile_loop(const tile_input<Arch>& in, floats<Arch> (&acc)[Rows][Vectors],
                                             Later later = {}) noexcept {
  const element_of<Arch>* a = in.a;
  const element_of<Arch>* b = in.b;
  // Four steps ahead: longer distances evict data in use, shorter ones are too late from the L2 cache.
  const std::ptrdiff_t ahead = 4 * in.b_step;
  for (std::size_t step = 0; step < in.depth; ++step) {
    floats<Arch> row[Vectors];
#pragma GCC unroll 4
    for (std::size_t v = 0; v < Vectors; ++v) {
      row[v] = load_register<Arch, Vectors, Tail>(b, v, in.tail);
      if constexpr (register_bytes<Arch> == 64) __builtin_prefetch(b + ahead + v * lanes<Arch>);
    }
#pragma GCC unroll 6
    for (std::size_t r = 0; r < Rows; ++r) {
      const floats<Arch> number = broadcast<Arch>(a[static_cast<std::ptrdiff_t>(r) * in.a_row]);
#pragma GCC unroll 4
      for (std::size_t v = 0; v < Vectors; ++v) acc[r][v] = fma<Arch>(number, row[v], acc[r][v]);
    }
    later.fetch();
    a += in.a_step;
    b += in.b_step;
  }
}

// Adds the sums of a tile to those of an earlier pass, if any; rows are `from_step` and `to_step` apart, in scratch or
// in C itself. Adds them at the end and not at the beginning: the sum over k is then a sum of short sums. Adds `bias`,
// if any, to every row.
template <class Arch, std::size_t Rows, std::size_t Vectors, bool Tail>
[[gnu::always_inline]] inline void finish_tile(floats<Arch> (&acc)[Rows][Vectors], std::size_t tail,
                                               const element_of<Arch>* from, std::ptrdiff_t from_step,
                                               const element_of<Arch>* bias, element_of<Arch>* to,
                                               std::ptrdiff_t to_step) noexcept {
  if (from != nullptr) {
#pragma GCC unroll 6
    for (std::size_t r = 0; r < Rows; ++r) {
      const element_of<Arch>* row = from + static_cast<std::ptrdiff_t>(r) * from_step;
#pragma GCC unroll 4
      for (std::size_t v = 0; v < Vectors; ++v) {
        acc[r][v] = load_register<Arch, Vectors, Tail>(row, v, tail) + acc[r][v];
      }
    }
  }
  if (bias != nullptr) {
#pragma GCC unroll 4
    for (std::size_t v = 0; v < Vectors; ++v) {
      const floats<Arch> added = load_register<Arch, Vectors, Tail>(bias, v, tail);
#pragma GCC unroll 6
      for (std::size_t r = 0; r < Rows; ++r) acc[r][v] = acc[r][v] + added;
    }
  }
#pragma GCC unroll 6
  for (std::size_t r = 0; r < Rows; ++r, to += to_step) {
#pragma GCC unroll 4
    for (std::size_t v = 0; v < Vectors; ++v) {
      if (Tail && v + 1 == Vectors) store_partial<Arch>(to + v * lanes<Arch>, tail, acc[r][v]);
      else store<Arch>(to + v * lanes<Arch>, acc[r][v]);
    }
  }
}

template <class Arch, std::size_t Rows, std::size_t Vectors>
[[gnu::always_inline]] inline void clear_tile(floats<Arch> (&acc)[Rows][Vectors]) noexcept {
#pragma GCC unroll 6
  for (std::size_t r = 0; r < Rows; ++r) {
#pragma GCC unroll 4
    for (std::size_t v = 0; v < Vectors; ++v) acc[r][v] = broadcast<Arch>(0.0F);
  }
}

template <class Arch, std::size_t Rows, std::size_t Vectors, bool Tail>
[[gnu::noinline]] void tile_sum(const tile_input<Arch>& in, const element_of<Arch>* from, std::ptrdiff_t from_step,
                                const element_of<Arch>* bias, element_of<Arch>* to, std::ptrdiff_t to_step) noexcept {
  floats<Arch> acc[Rows][Vectors];
  clear_tile<Arch>(acc);
  tile_loop<Arch, Rows, Vectors, Tail>(in, acc);
  finish_tile<Arch, Rows, Vectors, Tail>(acc, in.tail, from, from_step, bias, to, to_step);
}

template <class Arch>
using tile_function = void (*)(const tile_input<Arch>&, const element_of<Arch>*, std::ptrdiff_t,
                               const element_of<Arch>*, element_of<Arch>*, std::ptrdiff_t) noexcept;

// Any number of rows is divided into tiles of these heights: a kernel for each would double the code in a user's file.
template <class Arch>
[[nodiscard, gnu::always_inline]] constexpr std::size_t row_step(std::size_t rows) noexcept {
  return rows >= gemm_tile<Arch>::rows ? gemm_tile<Arch>::rows : rows >= 4 ? 4 : rows >= 2 ? 2 : 1;
}

template <class Arch, bool Tail, class Index>
struct tile_table;
template <class Arch, bool Tail, std::size_t... Index>
struct tile_table<Arch, Tail, std::index_sequence<Index...>> {
  static constexpr tile_function<Arch> whole[] = {&tile_sum<Arch, gemm_tile<Arch>::rows, Index + 1, Tail>...};
  static constexpr tile_function<Arch> four[] = {&tile_sum<Arch, 4, Index + 1, Tail>...};
  static constexpr tile_function<Arch> two[] = {&tile_sum<Arch, 2, Index + 1, Tail>...};
  static constexpr tile_function<Arch> one[] = {&tile_sum<Arch, 1, Index + 1, Tail>...};
};

// The kernel for a tile of `rows`, a result of `row_step`, and at least one register of columns.
template <class Arch, bool Tail>
[[nodiscard, gnu::always_inline]] inline tile_function<Arch> tile_for(std::size_t rows, std::size_t vectors) noexcept {
  using table = tile_table<Arch, Tail, std::make_index_sequence<gemm_tile<Arch>::vectors>>;
  return (rows == gemm_tile<Arch>::rows ? table::whole
          : rows == 4                   ? table::four
          : rows == 2                   ? table::two
                                        : table::one)[vectors - 1];
}

}  // namespace detail

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION

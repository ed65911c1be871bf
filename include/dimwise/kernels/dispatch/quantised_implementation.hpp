// SPDX-License-Identifier: BSL-1.0
// dimwise/kernels/dispatch/quantised_implementation.hpp -- products with quantized weights for one architecture:
// partition and dispatch.
//
// Layer: kernels. Compiled once per architecture under src/, or in the user's file for the user's flags
// (active_quantised.hpp).
// Tests: tests/kernels/quantised/product.test.cpp
//
// A part of a product is `part_columns` rows of weights for every kernel. Few rows of inputs use dot products, which
// read the weights as stored; more rows use panels, or weights that are widened to floats for each part.
#pragma once

#include <dimwise/kernels/dispatch/configuration.hpp>
#include <dimwise/kernels/dispatch/implementation.hpp>
#include <dimwise/kernels/gemm/product.hpp>
#include <dimwise/kernels/quantised/blocks.hpp>
#include <dimwise/kernels/quantised/panels.hpp>

#include <cstddef>

// A value that a switch does not handle fails to compile.
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wswitch"

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION {

namespace detail {

inline constexpr std::size_t part_columns = 64;
inline constexpr std::size_t rows_of_tile = 16;
inline constexpr std::size_t most_dots = 4;  // maximum rows of inputs for dot products

enum class quantised_path : unsigned char { dots, panels, widened };

#if defined(DIMWISE_DETAIL_PANEL_BYTES)
inline constexpr bool has_panels_of_bytes = true;
#else
inline constexpr bool has_panels_of_bytes = false;
#endif
#if defined(DIMWISE_DETAIL_PANEL_BYTES) && DIMWISE_DETAIL_PANEL_BYTES == 32
inline constexpr bool widens_bytes = true;  // panels of 8-bit weights have 16 bits
#else
inline constexpr bool widens_bytes = false;
#endif
#if defined(__AVX2__) && defined(__FMA__) && !defined(__AVX512F__)
inline constexpr bool separates_pairs = true;  // of bfloat16
#else
inline constexpr bool separates_pairs = false;
#endif
#if defined(__AVX512BF16__) && defined(__AVX512VNNI__) && defined(__AVX512BW__)
inline constexpr bool multiplies_bfloat16 = true;
#else
inline constexpr bool multiplies_bfloat16 = false;
#endif

struct quantised_plan {
  quantised_path path;
  input_layout inputs;
  std::size_t padded;    // bytes of a row of weights, padded
  std::size_t in_panel;  // bytes of a row in a panel
  std::size_t blocks;
  std::size_t shared;  // bytes of scratch that all workers share
  std::size_t own;     // bytes of scratch per worker
};

[[nodiscard, gnu::always_inline]] constexpr std::size_t whole_lines(std::size_t bytes) noexcept {
  return (bytes + 63) / 64 * 64;
}

// Bytes of the panels of a part: their numbers, rows that are unpacked, their scales.
[[nodiscard, gnu::always_inline]] constexpr std::size_t panels_bytes(const quantised_plan& plan) noexcept {
  return whole_lines(part_columns * plan.in_panel + rows_of_tile * plan.padded +
                     plan.blocks * part_columns * sizeof(float));
}

template <class Arch>
quantised_plan plan_of(const quantised_product_call& c) noexcept {
  const bool bytes = c.inputs == product_inputs::int8;
  const bool halves = c.inputs == product_inputs::bfloat16;
  quantised_path path = quantised_path::dots;
  if (c.m > most_dots && (bytes ? has_panels_of_bytes : halves && multiplies_bfloat16)) {
    path = quantised_path::panels;
  } else if (c.m > most_dots && !bytes) {
    path = quantised_path::widened;
  }
  input_form form = input_form::floats;
  if (bytes) {
    form = path == quantised_path::panels
               ? (widens_bytes && c.format == number_format::int8 ? input_form::words : input_form::panels)
           : c.format == number_format::int4 ? input_form::dots4
                                             : input_form::dots8;
  } else if (separates_pairs && path == quantised_path::dots && c.format == number_format::bfloat16) {
    form = input_form::even_first;
  } else if (halves) {
    form = input_form::bfloat16;
  }
  quantised_plan plan{path, {form, c.k, panel_zero(c.format)}, 0, 0, (c.k + block_numbers - 1) / block_numbers, 0, 0};
  plan.padded = plan.inputs.padded * (halves ? 2 : 1);
  plan.in_panel = plan.padded * (form == input_form::words ? 2 : 1);
  plan.shared = whole_lines(c.m * plan.inputs.bytes());
  const std::size_t tile = rows_of_tile * part_columns * sizeof(float);
  if (path == quantised_path::panels) {
    plan.own = panels_bytes(plan) + tile;
  } else if (path == quantised_path::widened) {
    // The last part may be thin, and thin products need different scratch.
    const std::size_t multiplied = max(gemm_scratch_bytes<Arch>({c.m, part_columns, c.k}),
                                       gemm_scratch_bytes<Arch>({c.m, c.n % part_columns, c.k}));
    plan.shared += halves ? whole_lines(c.m * c.k * sizeof(float)) : 0;
    plan.own = whole_lines(part_columns * c.k * sizeof(float)) + whole_lines(c.m * part_columns * sizeof(float)) +
               whole_lines(multiplied);
  } else {
    plan.own = tile;
  }
  return plan;
}

// Writes the rows [row, row + rows) and columns [column, column + columns) of C from sums, `width` apart.
template <class Arch>
[[gnu::noinline]] void finish_sums(const quantised_product_call& c, float* sums, std::size_t width, std::size_t row,
                                   std::size_t rows, std::size_t column, std::size_t columns) noexcept {
  for (std::size_t r = 0; r < rows; ++r) {
    float* const from = sums + r * width;
    float* const to = c.c + static_cast<std::ptrdiff_t>(row + r) * c.c_row + column;
    if (c.epilogue.column_bias != nullptr) {
      const float* const bias = c.epilogue.column_bias + column;
      for (std::size_t j = 0; j < columns; ++j) from[j] += bias[j];
    }
    if (c.epilogue.activation != function::none) map_all<Arch>(c.epilogue.activation, columns, from, from);
    if (c.epilogue.residual) {
      const float* const added = c.residual + static_cast<std::ptrdiff_t>(row + r) * c.residual_row + column;
      for (std::size_t j = 0; j < columns; ++j) from[j] += added[j];
    }
    __builtin_memcpy(to, from, columns * sizeof(float));
  }
}

// A 16-bit weight row times a row of inputs.
template <class Arch>
float dot_of(const quantised_product_call& c, const input_row& x, const unsigned char* row) noexcept {
#if defined(__AVX512BW__)
  if (c.format == number_format::float16) return float16_dot(x, c.k, row);
#endif
  if (c.format == number_format::float16) return half_dot<Arch, number_format::float16, false>(x, c.k, row);
#if defined(__AVX2__) && defined(__FMA__) && !defined(__AVX512F__)
  return bfloat16_pairs_dot(x, c.k, row);
#endif
  if (c.inputs == product_inputs::float32) return half_dot<Arch, number_format::bfloat16, false>(x, c.k, row);
#if defined(__AVX512BF16__)
  return bfloat16_dot(x, c.k, row);
#else
  return half_dot<Arch, number_format::bfloat16, true>(x, c.k, row);
#endif
}

[[nodiscard, gnu::always_inline]] inline quantised_rows_at weights_at(const quantised_product_call& c,
                                                                      std::size_t first, std::size_t rows) noexcept {
  const auto at = static_cast<std::ptrdiff_t>(first);
  return {static_cast<const unsigned char*>(c.b) + at * c.b_row, c.b_row,
          c.scales == nullptr ? nullptr : c.scales + at * c.scales_row, c.scales_row, rows};
}

template <class Arch>
void dots_part(const quantised_product_call& c, const quantised_plan& plan, const unsigned char* shared,
               std::size_t column, std::size_t columns, unsigned char* own) noexcept {
  auto* const sums = reinterpret_cast<float*>(own);
  const quantised_rows_at weights = weights_at(c, column, columns);
  for (std::size_t row = 0; row < c.m; row += rows_of_tile) {
    const std::size_t rows = min(rows_of_tile, c.m - row);
    input_row x[rows_of_tile];
    for (std::size_t r = 0; r < rows; ++r) {
      x[r] = plan.inputs.at(shared, row + r, c.a + static_cast<std::ptrdiff_t>(row + r) * c.a_row);
    }
    const bool is_short = c.k <= longest_short_row;
    if (c.format == number_format::int4) {
      (is_short ? block_sums<true, short_rows> : block_sums<true, long_rows>)(x, rows, plan.inputs, weights, sums,
                                                                              part_columns);
    } else if (c.format == number_format::int8) {
      (is_short ? block_sums<false, short_rows> : block_sums<false, long_rows>)(x, rows, plan.inputs, weights, sums,
                                                                                part_columns);
    } else {
      for (std::size_t j = 0; j < columns; ++j) {
        for (std::size_t r = 0; r < rows; ++r) sums[r * part_columns + j] = dot_of<Arch>(c, x[r], weights.at(j));
      }
    }
    finish_sums<Arch>(c, sums, part_columns, row, rows, column, columns);
  }
}

#if defined(DIMWISE_DETAIL_PANEL_BYTES)
// Input rows in the largest tile of bytes.
inline constexpr std::size_t rows_of_bytes = panel_bytes == 64 ? 6 : 4;
// Input rows that meet all panels of a part before the next ones: they stay in the L1 cache, and each panel is read
// from the L2 cache once for all of them.
inline constexpr std::size_t rows_of_part = rows_of_tile / rows_of_bytes * rows_of_bytes;
// A tile of `Rows` input rows; rows past `rows` repeat the last one.
template <std::size_t Rows>
void panel_tile([[maybe_unused]] const quantised_product_call& c, const quantised_plan& plan,
                const unsigned char* shared, std::size_t row, std::size_t rows, const quantised_panel* p,
                float* out) noexcept {
  input_row x[Rows];
  for (std::size_t r = 0; r < Rows; ++r) x[r] = plan.inputs.at(shared, row + min(r, rows - 1), nullptr);
#if defined(__AVX512BF16__)
  if (c.format == number_format::bfloat16) { return bfloat16_tile<Rows>(x, (c.k + 1) / 2, p, out, part_columns); }
#endif
#if DIMWISE_DETAIL_PANEL_BYTES == 64
  if constexpr (Rows <= rows_of_bytes) int8_tile<Rows>(x, plan.blocks, p, out, part_columns);
#else
  if constexpr (Rows <= rows_of_bytes) {
    (c.format == number_format::int4 ? byte_tile<Rows, true> : byte_tile<Rows, false>)(x, plan.blocks, p, out,
                                                                                       part_columns);
  }
#endif
}
template <class Arch>
void panels_part(const quantised_product_call& c, const quantised_plan& plan, const unsigned char* shared,
                 std::size_t column, std::size_t columns, unsigned char* own) noexcept {
  quantised_panel panels[part_columns / rows_of_panel];
  unsigned char* const spread = own + part_columns * plan.in_panel;
  auto* const scales = reinterpret_cast<float*>(spread + rows_of_panel * plan.padded);
  auto* const sums = reinterpret_cast<float*>(own + panels_bytes(plan));
  const std::size_t count = ceil_div(columns, rows_of_panel);
  for (std::size_t i = 0; i < part_columns / rows_of_panel; ++i) {
    panels[i] = {own + i * rows_of_panel * plan.in_panel, scales + i * rows_of_panel * plan.blocks};
    if (i < count) {
      const std::size_t first = i * rows_of_panel;
      pack_panel(c, weights_at(c, column + first, min(rows_of_panel, columns - first)), plan.padded, spread, panels[i]);
    }
  }
  const bool halves = c.format == number_format::bfloat16;
  const std::size_t most = halves ? 12 : rows_of_bytes;
  const std::size_t part = halves ? most : rows_of_part;
  for (std::size_t begin = 0; begin < c.m; begin += part) {
    const std::size_t end = min(begin + part, c.m);
    for (std::size_t i = 0; i < count; i += tile_panels) {
      const quantised_panel pair[tile_panels] = {panels[i], panels[i + 1 < count ? i + 1 : i]};
      for (std::size_t row = begin; row < end; row += most) {
        const std::size_t rows = min(most, end - row);
        float* const out = sums + (row - begin) * part_columns + i * rows_of_panel;
        if (halves) {
          (rows <= 4   ? panel_tile<4>
           : rows <= 8 ? panel_tile<8>
                       : panel_tile<12>)(c, plan, shared, row, rows, pair, out);
        } else {
          (rows <= 2   ? panel_tile<2>
           : rows <= 4 ? panel_tile<4>
                       : panel_tile<rows_of_bytes>)(c, plan, shared, row, rows, pair, out);
        }
      }
    }
    finish_sums<Arch>(c, sums, part_columns, begin, end - begin, column, columns);
  }
}
#endif

template <class Arch>
void widened_part(const quantised_product_call& c, const float* a, std::ptrdiff_t a_row, std::size_t column,
                  std::size_t columns, unsigned char* own) {
  auto* const b = reinterpret_cast<float*>(own);
  auto* const sums = reinterpret_cast<float*>(own + whole_lines(part_columns * c.k * sizeof(float)));
  unsigned char* const scratch =
      own + whole_lines(part_columns * c.k * sizeof(float)) + whole_lines(c.m * part_columns * sizeof(float));
  const quantised_rows_at rows = weights_at(c, column, columns);
  const quantised_data from{rows.data, c.format, c.b_row / 2, nullptr, 0};
  widen_rows<Arch>(from, 0, columns, 0, c.k, b);
  const auto k = static_cast<std::ptrdiff_t>(c.k);
  gemm<Arch>({c.m, columns, c.k}, {a, a_row, 1}, {b, 1, k}, {sums, static_cast<std::ptrdiff_t>(part_columns), 1},
             scratch);
  finish_sums<Arch>(c, sums, part_columns, 0, c.m, column, columns);
}

template <class Arch>
std::size_t quantised_product_bytes(const quantised_product_call& c, std::size_t workers) {
  const quantised_plan plan = plan_of<Arch>(c);
  return plan.shared + workers * plan.own;
}

template <class Arch>
void quantised_product(const quantised_product_call& c, void* scratch, const runner& threads) {
  if (c.m == 0 || c.n == 0) return;
  const quantised_plan plan = plan_of<Arch>(c);
  auto* const shared = static_cast<unsigned char*>(scratch);
  unsigned char* const own = shared + plan.shared;
  auto* const rounded = reinterpret_cast<float*>(shared + whole_lines(c.m * plan.inputs.bytes()));
  const bool rounds = plan.path == quantised_path::widened && c.inputs == product_inputs::bfloat16;
  constexpr std::size_t converted_rows = 16;
  if (plan.inputs.form != input_form::floats) {
    threads.parallel_for(ceil_div(c.m, converted_rows), [&](std::size_t part, std::size_t) {
      for (std::size_t r = part * converted_rows; r < min(c.m, (part + 1) * converted_rows); ++r) {
        const float* const x = c.a + static_cast<std::ptrdiff_t>(r) * c.a_row;
        unsigned char* const to = shared + r * plan.inputs.bytes();
        if (plan.inputs.form == input_form::even_first) {
          separate_row(plan.inputs, x, c.inputs == product_inputs::bfloat16, to);
          continue;
        }
        if (plan.inputs.form != input_form::bfloat16) {
          quantise_row(plan.inputs, x, to);
          continue;
        }
        round_row(plan.inputs, x, to);
        const quantised_data from{to, number_format::bfloat16, 0, nullptr, 0};
        if (rounds) widen_rows<Arch>(from, 0, 1, 0, c.k, rounded + r * c.k);
      }
    });
  }
  threads.parallel_for(ceil_div(c.n, part_columns), [&](std::size_t part, std::size_t worker) {
    const std::size_t column = part * part_columns;
    const std::size_t columns = min(part_columns, c.n - column);
    unsigned char* const mine = own + worker * plan.own;
    switch (plan.path) {
      case quantised_path::dots:
        return dots_part<Arch>(c, plan, shared, column, columns, mine);
      case quantised_path::panels:
#if defined(DIMWISE_DETAIL_PANEL_BYTES)
        return panels_part<Arch>(c, plan, shared, column, columns, mine);
#endif
      case quantised_path::widened:
        return rounds ? widened_part<Arch>(c, rounded, static_cast<std::ptrdiff_t>(c.k), column, columns, mine)
                      : widened_part<Arch>(c, c.a, c.a_row, column, columns, mine);
    }
  });
}

}  // namespace detail

/// The kernels of `Arch` for quantized weights.
template <class Arch>
inline constexpr quantised_table quantised_table_of = {
    .product_bytes = &detail::quantised_product_bytes<Arch>,
    .product = &detail::quantised_product<Arch>,
};

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION

#pragma GCC diagnostic pop

// dimwise/kernels/rows/backward.hpp -- the backward pass of softmax, log-softmax, layer norm, RMS norm and gather.
//
// Layer: kernels. Includes: rows/forward.hpp, executor.hpp, gradient_table.hpp.
// Tests: tests/kernels/rows/backward.test.cpp
//
//   softmax      dx = p (g - Σ p g)                   for a weight of 0, g does not count and dx is -0
//   log-softmax  dx = g - e^y Σ g                     the same for y = -inf
//   layer norm   dx = r (u - mean u - h mean (u h)),  h = (x - mean x) r,  u = g gamma,  r = 1 / sqrt(variance + eps)
//                d_gamma += Σ g h,  d_beta += Σ g
//   rms norm     the same without the means of x and u
//
// A g of 0 contributes nothing for any row: a discarded row may contain infinities or NaN, and 0 times these is NaN.
// The sums show which rows have such elements, so other rows cost one comparison.
//
// Each row is read once from memory. `out` may be `gradient`. Pointers need no alignment.
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/kernels/dispatch/configuration.hpp>
#include <dimwise/kernels/dispatch/gradient_table.hpp>
#include <dimwise/kernels/executor.hpp>
#include <dimwise/kernels/rows/forward.hpp>

#include <cmath>
#include <cstddef>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION {

namespace detail {

// Two sums in one pass over two rows, with four registers each.
template <class Arch>
struct two_sums {
  element_of<Arch> first;
  element_of<Arch> second;
};

template <class Arch>
struct two_registers {
  floats<Arch> first;
  floats<Arch> second;
};

// f(a, b) returns the summands of both sums as a pair of registers. F captures by value: captured values stay in
// registers.
template <class Arch, class F>
[[nodiscard, gnu::always_inline]] inline two_registers<Arch> sum_pairs_of(std::size_t begin, std::size_t end,
                                                                          const element_of<Arch>* a,
                                                                          const element_of<Arch>* b,
                                                                          const F& f) noexcept {
  using vec = floats<Arch>;
  constexpr std::size_t wide = lanes<Arch>;
  vec first[4] = {vec(0.0F), vec(0.0F), vec(0.0F), vec(0.0F)};
  vec second[4] = {vec(0.0F), vec(0.0F), vec(0.0F), vec(0.0F)};
  std::size_t i = begin;
  for (; i + 4 * wide <= end; i += 4 * wide) {
#pragma GCC unroll 4
    for (std::size_t j = 0; j < 4; ++j)
      f(i + j * wide, wide, load<Arch>(a + i + j * wide), load<Arch>(b + i + j * wide), first[j], second[j]);
  }
  for (std::size_t j = 0; i < end; i += wide, ++j) {
    const std::size_t count = end - i < wide ? end - i : wide;
    f(i, count, load_some<Arch>(a + i, count), load_some<Arch>(b + i, count), first[j], second[j]);
  }
  return {(first[0] + first[1]) + (first[2] + first[3]), (second[0] + second[1]) + (second[2] + second[3])};
}
// The same for long rows, in blocks with carried sums.
template <class Arch, class F>
[[nodiscard, gnu::noinline]] two_registers<Arch> sum_long_pairs(std::size_t n, const element_of<Arch>* a,
                                                                const element_of<Arch>* b, F f) noexcept {
  carried_sum<floats<Arch>> first;
  carried_sum<floats<Arch>> second;
  for (std::size_t at = 0; at < n; at += sum_block) {
    const auto sums = sum_pairs_of<Arch>(at, n - at < sum_block ? n : at + sum_block, a, b, f);
    first += sums.first;
    second += sums.second;
  }
  return {first.value(), second.value()};
}
template <class Arch, class F>
[[nodiscard, gnu::always_inline]] inline two_sums<Arch> sum_pairs(std::size_t n, const element_of<Arch>* a,
                                                                  const element_of<Arch>* b, const F& f) noexcept {
  const auto sums = n > sum_block ? sum_long_pairs<Arch>(n, a, b, f) : sum_pairs_of<Arch>(0, n, a, b, f);
  return {reduce_sum<Arch>(sums.first), reduce_sum<Arch>(sums.second)};
}

template <class T>
[[nodiscard]] bool all_zero(std::size_t n, const T* g) noexcept {
  for (std::size_t i = 0; i < n; ++i) {
    if (g[i] != T(0)) return false;
  }
  return true;
}

}  // namespace detail

/// dx = p (g - Σ p g) of one row.
template <class Arch = default_arch>
void softmax_row_gradient(std::size_t n, const element_of<Arch>* p, const element_of<Arch>* g,
                          element_of<Arch>* out) noexcept {
  using vec = floats<Arch>;
  const vec zero = broadcast<Arch>(0.0F);
  const auto sums = detail::sum_pairs<Arch>(
      n, p, g,
      [=](std::size_t, std::size_t, const vec& w, const vec& x, vec& sum, vec&)
          __attribute__((always_inline)) { sum = select<Arch>(w == zero, sum, fma<Arch>(w, x, sum)); });
  if (sums.first != sums.first && detail::all_zero(n, g)) {
    return map_floats<Arch>(n, g, out, [](const vec&) { return broadcast<Arch>(0.0F); });
  }
  const vec mean = broadcast<Arch>(sums.first);
  zip_floats<Arch>(n, p, g, out, [&](const vec& w, const vec& x) __attribute__((always_inline)) {
    return select<Arch>(w == zero, broadcast<Arch>(-0.0F), w * (x - mean));
  });
}

/// dx = g - e^y Σ g of one row of logarithms; 0 if y is -inf, and such a g does not count.
template <class Arch = default_arch>
void log_softmax_row_gradient(std::size_t n, const element_of<Arch>* y, const element_of<Arch>* g,
                              element_of<Arch>* out) noexcept {
  using vec = floats<Arch>;
  const vec hidden = broadcast<Arch>(minus_infinite);
  const auto sums =
      detail::sum_pairs<Arch>(n, y, g,
                              [=](std::size_t, std::size_t, const vec& x, const vec& d, vec& sum, vec&)
                                  __attribute__((always_inline)) { sum = select<Arch>(x == hidden, sum, sum + d); });
  const vec total = broadcast<Arch>(sums.first);
  zip_floats<Arch>(n, y, g, out, [&](const vec& x, const vec& d) __attribute__((always_inline)) {
    return select<Arch>(x == hidden, broadcast<Arch>(0.0F),
                        d - sent_of<multiply_of>{}(total, exp_nonpositive<Arch>(x)));
  });
}

namespace detail {

// The gradient of a row with elements or a scale that are not finite: skips the product if g is 0.
template <bool Centred, class T>
[[gnu::noinline]] void odd_norm_row_gradient(std::size_t n, const T* in, const T* g, T* out, T mean, T scale,
                                             const T* gamma, T* d_gamma, T* d_beta) noexcept {
  const auto sent = [](T d, T by) { return d == T(0) ? d : d * by; };
  const auto normal = [&](std::size_t i) { return (in[i] - mean) * scale; };
  const auto weighted = [&](std::size_t i) { return gamma == nullptr ? g[i] : sent(g[i], gamma[i]); };
  carried_sum<T> all;
  carried_sum<T> products;
  for (std::size_t i = 0; i < n; ++i) {
    if (Centred) all += weighted(i);
    products += sent(weighted(i), normal(i));
    if (d_gamma != nullptr) d_gamma[i] += sent(g[i], normal(i));
    if (d_beta != nullptr) d_beta[i] += g[i];
  }
  const T of = all.value() / static_cast<T>(n);
  const T with = products.value() / static_cast<T>(n);
  for (std::size_t i = 0; i < n; ++i) out[i] = sent(weighted(i) - of - sent(with, normal(i)), scale);
}

// One row of a norm; adds to d_gamma and d_beta unless they are null. `Centred`: the layer norm.
template <class Arch, bool Centred>
[[gnu::noinline]] void norm_row_gradient(std::size_t n, const element_of<Arch>* in, const element_of<Arch>* g,
                                         element_of<Arch>* out, element_of<Arch> epsilon, const element_of<Arch>* gamma,
                                         element_of<Arch>* d_gamma, element_of<Arch>* d_beta) noexcept {
  using vec = floats<Arch>;
  const element_of<Arch> mean = Centred ? mean_row<Arch>(n, in) : 0.0F;
  const square_step<Arch> step{broadcast<Arch>(mean)};
  const element_of<Arch> squares = reduce_sum<Arch>(fold_sum_row<Arch>(n, in, step));
  const element_of<Arch> inverse = 1.0F / static_cast<element_of<Arch>>(n);
  const element_of<Arch> scale = 1.0F / std::sqrt(squares / static_cast<element_of<Arch>>(n) + epsilon);
  if (!(squares - squares == 0.0F && scale - scale == 0.0F)) {
    return odd_norm_row_gradient<Centred>(n, in, g, out, mean, scale, gamma, d_gamma, d_beta);
  }
  const vec center = broadcast<Arch>(mean);
  const vec by = broadcast<Arch>(scale);
  const auto weighted = [=](std::size_t i, std::size_t count, const vec& d) __attribute__((always_inline)) {
    return gamma == nullptr ? d : d * load_some<Arch>(gamma + i, count);
  };
  const auto sums = sum_pairs<Arch>(n, in, g,
                                    [=](std::size_t i, std::size_t count, const vec& x, const vec& d, vec& of,
                                        vec& with) __attribute__((always_inline)) {
    const vec h = (x - center) * by;
    // Lanes past the end are 0 in d, and therefore in u.
    const vec u = weighted(i, count, d);
    if constexpr (Centred) of = of + u;
    with = fma<Arch>(u, h, with);
    if (d_gamma != nullptr) store_some<Arch>(d_gamma + i, count, fma<Arch>(d, h, load_some<Arch>(d_gamma + i, count)));
    if (d_beta != nullptr) store_some<Arch>(d_beta + i, count, d + load_some<Arch>(d_beta + i, count));
  });
  const vec of = broadcast<Arch>(sums.first * inverse);
  const vec with = broadcast<Arch>(sums.second * inverse);
  for_columns<Arch>(n, [&](std::size_t i, std::size_t count) __attribute__((always_inline)) {
    const vec h = (load_some<Arch>(in + i, count) - center) * by;
    vec u = weighted(i, count, load_some<Arch>(g + i, count));
    if constexpr (Centred) u = u - of;
    store_some<Arch>(out + i, count, by * (u - h * with));
  });
}

// The parts of a norm's rows, each with its own sums for gamma and beta.
template <class T>
[[nodiscard, gnu::always_inline]] inline std::size_t norm_parts(const rows_gradient_call_of<T>& c) noexcept {
  constexpr std::size_t elements_of_part = std::size_t{1} << 15;
  constexpr std::size_t most = 16;
  const std::size_t wanted = c.n == 0 ? 1 : c.rows * c.n / elements_of_part;
  const std::size_t parts = wanted < most ? wanted : most;
  return parts < 1 ? 1 : parts;
}
[[nodiscard, gnu::always_inline]] inline std::size_t padded_row(std::size_t n) noexcept { return (n + 15) / 16 * 16; }

// The levels of the sums of a part: sums of `sum_block_rows` rows are carried.
template <class T>
[[nodiscard, gnu::always_inline]] inline std::size_t norm_levels(const rows_gradient_call_of<T>& c,
                                                                 std::size_t parts) noexcept {
  const std::size_t rows = (c.rows + parts - 1) / parts;
  return carried_rows::levels((rows + sum_block_rows - 1) / sum_block_rows);
}

}  // namespace detail

/// Bytes of scratch for `norm_gradient`, aligned to 64: sums for gamma and beta, two rows for each of at most 16 parts,
/// and the same again for each level of the sums over many rows.
template <class T>
[[nodiscard, gnu::always_inline]] inline std::size_t norm_gradient_scratch_bytes(
    const rows_gradient_call_of<T>& c) noexcept {
  const std::size_t parts = detail::norm_parts(c);
  return parts * 2 * detail::norm_levels(c, parts) * detail::padded_row(c.n) * sizeof(T);
}

/// Writes `out`, and adds to d_gamma and d_beta, for a layer norm (`Centred`) or an rms norm.
template <class Arch, bool Centred, Executor Threads>
void norm_gradient(const rows_gradient_call_of<element_of<Arch>>& c, void* scratch, Threads& threads) {
  if (c.n == 0 || c.rows == 0) return;
  const std::size_t parts = detail::norm_parts(c);
  const std::size_t levels = detail::norm_levels(c, parts);
  const std::size_t step = detail::padded_row(c.n);
  element_of<Arch>* const sums = static_cast<element_of<Arch>*>(scratch);
  using carried = carried_rows_of<element_of<Arch>>;
  const typename carried::adder add = [](std::size_t n, element_of<Arch>* to, const element_of<Arch>* from) {
    zip_floats<Arch>(n, to, from, to, add_of{});
  };
  const auto sums_of = [&](std::size_t part, bool beta) { return sums + (2 * part + (beta ? 1 : 0)) * levels * step; };
  threads.parallel_for(parts, [&](std::size_t part, std::size_t) {
    carried of_gamma(c.d_gamma == nullptr ? 0 : c.n, step, levels, sums_of(part, false));
    carried of_beta(c.d_beta == nullptr ? 0 : c.n, step, levels, sums_of(part, true));
    const std::size_t begin = part * c.rows / parts;
    const std::size_t end = (part + 1) * c.rows / parts;
    for (std::size_t r = begin; r < end; ++r) {
      if (r > begin && (r - begin) % detail::sum_block_rows == 0) {
        of_gamma.carry(add);
        of_beta.carry(add);
      }
      const auto row = static_cast<std::ptrdiff_t>(r);
      detail::norm_row_gradient<Arch, Centred>(
          c.n, c.in + row * c.in_row, c.gradient + row * c.gradient_row, c.out + row * c.out_row, c.epsilon, c.gamma,
          c.d_gamma == nullptr ? nullptr : of_gamma.row(), c.d_beta == nullptr ? nullptr : of_beta.row());
    }
    of_gamma.finish(add);
    of_beta.finish(add);
  });
  for (std::size_t part = 0; part < parts; ++part) {
    if (c.d_gamma != nullptr) add(c.n, c.d_gamma, sums_of(part, false));
    if (c.d_beta != nullptr) add(c.n, c.d_beta, sums_of(part, true));
  }
}

namespace detail {

// to += the rows at `from` + their offsets in `pairs`. Sums of very many rows are divided into blocks and carried, a
// few registers of columns at a time.
template <class Arch>
[[gnu::noinline]] void add_rows(std::size_t rows, std::size_t n, element_of<Arch>* to, const element_of<Arch>* from,
                                const added_row* pairs) noexcept {
  if (rows <= sum_block_rows) {
    for (std::size_t r = 0; r < rows; ++r) zip_floats<Arch>(n, to, from + pairs[r].from, to, add_of{});
    return;
  }
  constexpr std::size_t wide = lanes<Arch>;
  for (std::size_t c = 0; c < n; c += 4 * wide) {
    const auto columns_of = [&](std::size_t j) __attribute__((always_inline)) {
      const std::size_t at = c + j * wide;
      return at >= n ? 0 : n - at < wide ? n - at : wide;
    };
    carried_sum<floats<Arch>> sums[4];
    for (std::size_t begin = 0; begin < rows; begin += sum_block_rows) {
      const std::size_t end = rows - begin < sum_block_rows ? rows : begin + sum_block_rows;
      floats<Arch> part[4] = {broadcast<Arch>(0), broadcast<Arch>(0), broadcast<Arch>(0), broadcast<Arch>(0)};
      for (std::size_t r = begin; r < end; ++r) {
        const element_of<Arch>* const row = from + pairs[r].from + c;
#pragma GCC unroll 4
        for (std::size_t j = 0; j < 4; ++j) {
          if (columns_of(j) > 0) part[j] = part[j] + load_some<Arch>(row + j * wide, columns_of(j));
        }
      }
      for (std::size_t j = 0; j < 4; ++j) sums[j] += part[j];
    }
    for (std::size_t j = 0; j < 4 && columns_of(j) > 0; ++j) {
      element_of<Arch>* const out = to + c + j * wide;
      store_some<Arch>(out, columns_of(j), load_some<Arch>(out, columns_of(j)) + sums[j].value());
    }
  }
}

}  // namespace detail

/// out[ids[r]] += in[r], in the order of r; with `pairs`, out + pair.to += in + pair.from. Parts are columns, so tasks
/// are independent, and the order of additions is fixed.
template <class Arch, Executor Threads>
void scatter_add(const scatter_call_of<element_of<Arch>>& c, Threads& threads) {
  constexpr std::size_t elements_of_part = std::size_t{1} << 14;
  constexpr std::size_t line = 16;
  if (c.rows == 0 || c.n == 0) return;
  const std::size_t lines = (c.n + line - 1) / line;
  const std::size_t wanted = c.rows * c.n / elements_of_part + 1;
  // Each part has at least four cache lines: shorter ones defeat prefetching.
  const std::size_t most = (lines + 3) / 4;
  const std::size_t parts = wanted < most ? wanted : most;
  threads.parallel_for(parts, [&](std::size_t part, std::size_t) {
    const std::size_t begin = lines * part / parts * line;
    const std::size_t last = lines * (part + 1) / parts * line;
    const std::size_t count = (last < c.n ? last : c.n) - begin;
    if (c.pairs != nullptr) {
      for (std::size_t r = 0, rows = 1; r < c.rows; r += rows, rows = 1) {
        while (r + rows < c.rows && c.pairs[r + rows].to == c.pairs[r].to) ++rows;
        detail::add_rows<Arch>(rows, count, c.out + c.pairs[r].to + begin, c.in + begin, c.pairs + r);
      }
      return;
    }
    for (std::size_t r = 0; r < c.rows; ++r) {
      const auto row = static_cast<std::ptrdiff_t>(r);
      element_of<Arch>* const to = c.out + static_cast<std::ptrdiff_t>(c.ids[row * c.id_step]) * c.out_row + begin;
      zip_floats<Arch>(count, to, c.in + row * c.in_row + begin, to, add_of{});
    }
  });
}

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION

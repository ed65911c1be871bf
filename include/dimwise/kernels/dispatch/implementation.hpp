// SPDX-License-Identifier: BSL-1.0
// dimwise/kernels/dispatch/implementation.hpp -- the table of kernels of one architecture, instantiated from the
// templates.
//
// Layer: kernels. Compiled once per architecture under src/, or in the user's file for the user's flags (active.hpp).
#pragma once

#include <dimwise/kernels/attention/forward.hpp>
#include <dimwise/kernels/attention/small.hpp>
#include <dimwise/kernels/decode/attention.hpp>
#include <dimwise/kernels/decode/stored.hpp>
#include <dimwise/kernels/dispatch/configuration.hpp>
#include <dimwise/kernels/dispatch/element_calls.hpp>
#include <dimwise/kernels/dispatch/table.hpp>
#include <dimwise/kernels/gemm/product.hpp>
#include <dimwise/kernels/math.hpp>
#include <dimwise/kernels/rows/forward.hpp>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION {

namespace detail {

template <class Arch>
struct call_epilogue {
  const product_epilogue_of<element_of<Arch>>* what;
  const_matrix<Arch> residual;

  [[nodiscard]] bool reads(const void* c) const noexcept { return what->residual && residual.data == c; }
  [[nodiscard]] const element_of<Arch>* only_bias() const noexcept {
    product_epilogue_of<element_of<Arch>> without = *what;
    without.column_bias = nullptr;
    return without.any() ? nullptr : what->column_bias;
  }

  [[gnu::always_inline]] floats<Arch> operator()(floats<Arch> x, std::size_t row, std::size_t column,
                                                 std::size_t count) const noexcept {
    if (what->scale != 1) { x = x * broadcast<Arch>(what->scale); }
    if (what->column_bias != nullptr) { x = x + load_columns<Arch>(what->column_bias + column, 1, count); }
    if (what->row_bias != nullptr) { x = x + broadcast<Arch>(what->row_bias[row]); }
    if (what->activation != function::none) { x = apply<Arch>(what->activation, x); }
    if (what->residual) { x = x + load_columns<Arch>(residual.at(row, column), residual.column_stride, count); }
    return x;
  }
};

template <class Arch>
struct call_score {
  score_function what;
  soft_cap_of cap{what.soft_cap};

  [[nodiscard]] bool any() const noexcept { return what.any(); }
  [[nodiscard]] bool only_each() const noexcept { return what.slopes == nullptr; }

  // Processes whole registers: `scores` has room for them.
  void each(float* scores, std::size_t count) const noexcept {
    if (what.own != nullptr) { what.own(what.context, scores, count); }
    if (what.soft_cap == 0) { return; }
    for (std::size_t i = 0; i < count; i += lanes<Arch>) {
      store_aligned<Arch>(scores + i, cap(load_aligned<Arch>(scores + i)));
    }
  }
  // Called only with slopes; otherwise `each` does everything.
  [[gnu::always_inline]] floats<Arch> operator()(const floats<Arch>& scores,
                                                 const score_place<Arch>& place) const noexcept {
    const ints<Arch> distance = place.key - place.query + ints<Arch>(clamp_to_int32(what.distance));
    return scores - broadcast<Arch>(what.slopes[place.head]) * magnitude<Arch>(to_floats<Arch>(distance));
  }
};

template <class Arch>
std::size_t attention_bytes(const attention_call_of<element_of<Arch>>& c, std::size_t workers) {
  if constexpr (!in_doubles<Arch>) {
    if (c.few_queries) { return decode_scratch_bytes<Arch>(c.layout, c.count, c.group, workers); }
  }
  return attention_scratch_bytes<Arch>(c.layout, workers);
}
template <class Arch>
void attention(const attention_call_of<element_of<Arch>>& c, void* scratch, const runner& threads) {
  if constexpr (in_doubles<Arch>) {
    kernels::attention<Arch>(c.layout, c.heads, c.count, scratch, threads);
  } else {
    const call_score<Arch> score{c.score};
    if (c.few_queries) {
      kernels::decode<Arch>(c.layout, c.heads, c.count, c.group, scratch, threads, score);
    } else {
      kernels::attention<Arch>(c.layout, c.heads, c.count, scratch, threads, score);
    }
  }
}

template <class Arch>
std::size_t product_bytes(const product_call_of<element_of<Arch>>& c, std::size_t workers) {
  return gemm_scratch_bytes<Arch>({c.m, c.n, c.k}, workers);
}
template <class Arch, class EpilogueOf>
void product_with(const product_call_of<element_of<Arch>>& c, void* scratch, const runner& threads,
                  const EpilogueOf& epilogue_of) {
  const gemm_shape shape{c.m, c.n, c.k};
  if (c.packed_b != nullptr) {
    const auto& p = c.problems[0];
    gemm_packed<Arch>(shape, {p.a, c.a_row, c.a_column}, c.packed_b, {p.c, c.c_row, c.c_column}, scratch,
                      epilogue_of(p), threads);
    return;
  }
  gemm_batched<Arch>(c.count, shape, {nullptr, c.a_row, c.a_column}, {nullptr, c.b_row, c.b_column},
                     {nullptr, c.c_row, c.c_column}, scratch, [&](std::size_t i) {
    const auto& p = c.problems[i];
    return gemm_problem<decltype(epilogue_of(p)), element_of<Arch>>{p.a, p.b, p.c, epilogue_of(p)};
  }, threads);
}

template <class Arch>
void product_kernel(const product_call_of<element_of<Arch>>& c, void* scratch, const runner& threads) {
  product_with<Arch>(c, scratch, threads, [&](const typename product_call_of<element_of<Arch>>::pointers& p) {
    return keep_or_add<element_of<Arch>>{added_to<element_of<Arch>>({p.c, c.c_row, c.c_column}), c.onto};
  });
}
template <class Arch>
void product_with_epilogue(const product_call_of<element_of<Arch>>& c, void* scratch, const runner& threads) {
  product_with<Arch>(c, scratch, threads, [&](const typename product_call_of<element_of<Arch>>::pointers& p) {
    return call_epilogue<Arch>{&c.epilogue, {p.residual, c.residual_row, c.residual_column}};
  });
}

// Products with more multiply-adds gain nothing from the small path.
inline constexpr std::size_t small_product = std::size_t{1} << 17;
// A larger B is streamed: the small path reads it column by column.
inline constexpr std::size_t small_b = std::size_t{1} << 15;

template <class Arch>
bool product_small(const product_call_of<element_of<Arch>>& c) {
  // Few rows stream a distant B; many rows pack a B outside the L1 cache.
  const bool tall = c.m > 2 * gemm_tile<Arch>::rows;
  const std::size_t most = c.m <= thin_rows ? small_b : tall ? in_place_elements<Arch> : small_product;
  if (c.epilogue.any() || c.m * c.n * c.k * c.count > small_product || c.k * c.n > most) return false;
  for (std::size_t i = 0; i < c.count; ++i) {
    const auto& problem = c.problems[i];
    const product<Arch> p{c.n, c.k, {problem.a, c.a_row, c.a_column}, {problem.b, c.b_row, c.b_column}};
    if (!multiply_small<Arch>(c.m, p, {problem.c, c.c_row, c.c_column})) return false;
  }
  return true;
}

template <class Arch>
void pack(std::size_t k, std::size_t n, const element_of<Arch>* b, std::ptrdiff_t row, std::ptrdiff_t column,
          element_of<Arch>* packed) {
  pack_b<Arch>(k, n, {b, row, column}, packed);
}

}  // namespace detail

// The kernels that exist for float and for double.
#define DIMWISE_DETAIL_ELEMENT_KERNELS(KERNEL)                  \
  KERNEL(product_bytes, detail::product_bytes<Arch>)            \
  KERNEL(product, detail::product_kernel<Arch>)                 \
  KERNEL(product_small, detail::product_small<Arch>)            \
  KERNEL(packed_bytes, packed_b_bytes<Arch>)                    \
  KERNEL(pack, detail::pack<Arch>)                              \
  KERNEL(softmax, detail::softmax_rows<Arch>)                   \
  KERNEL(log_softmax, detail::log_softmax_rows<Arch>)           \
  KERNEL(standardize, detail::standardize_rows<Arch>)           \
  KERNEL(root_mean_square, detail::root_mean_square_rows<Arch>) \
  KERNEL(map, detail::map_all<Arch>)                            \
  KERNEL(zip, detail::zip_all<Arch>)                            \
  KERNEL(compare, detail::compare_all<Arch>)                    \
  KERNEL(choose, choose_floats<Arch>)                           \
  KERNEL(fold_row, detail::fold_row_by<Arch>)                   \
  KERNEL(fold_columns, detail::fold_columns_by<Arch>)           \
  KERNEL(attention_bytes, detail::attention_bytes<Arch>)        \
  KERNEL(attention, detail::attention<Arch>)

/// The kernels of `Arch` that exist for float and for double, each compiled on use.
template <class Arch>
struct element_kernels_of {
#define DIMWISE_DETAIL_KERNEL(name, ...) static constexpr auto name = &__VA_ARGS__;
  DIMWISE_DETAIL_ELEMENT_KERNELS(DIMWISE_DETAIL_KERNEL)
#undef DIMWISE_DETAIL_KERNEL
};

/// The kernels of `Arch`, an architecture of float, each compiled on use.
template <class Arch>
struct kernels_of : element_kernels_of<Arch> {
  static constexpr auto architecture = Arch::name();
  static constexpr auto attention_small = &kernels::attention_small<Arch>;
  static constexpr auto stored_rows = &detail::stored_kernels_of<Arch>;
  static constexpr auto product_with_epilogue = &detail::product_with_epilogue<Arch>;
};

/// All kernels of `Arch` that exist for float and for double, as a table.
template <class Arch>
inline constexpr element_table<element_of<Arch>> element_table_of = {
#define DIMWISE_DETAIL_KERNEL(name, ...) .name = &__VA_ARGS__,
    DIMWISE_DETAIL_ELEMENT_KERNELS(DIMWISE_DETAIL_KERNEL)
#undef DIMWISE_DETAIL_KERNEL
};
#undef DIMWISE_DETAIL_ELEMENT_KERNELS

/// All kernels of `Arch`, an architecture of float, as a table.
template <class Arch>
inline constexpr table table_of = {
    element_table_of<Arch>,        kernels_of<Arch>::architecture,          kernels_of<Arch>::attention_small,
    kernels_of<Arch>::stored_rows, kernels_of<Arch>::product_with_epilogue,
};

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION

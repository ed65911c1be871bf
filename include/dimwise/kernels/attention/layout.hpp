// SPDX-License-Identifier: BSL-1.0
// dimwise/kernels/attention/layout.hpp -- the arguments of an attention kernel: extents, strides, pointers, masks.
//
// Layer: kernels. Includes: light standard headers only, so that callers need not compile the kernels.
// Tests: tests/kernels/attention/forward.test.cpp
//
// One attention_layout is shared by a list of attention_head entries, one per (batch, query head). Grouped heads are
// entries with equal k and v: keys are not repeated in memory.
//
//   out[i] = sum_j softmax_j(score(scale * q[i] . k[j]) + bias[i, j]) v[j]     over the keys j that query i may see
#pragma once

#include <dimwise/support/number_format.hpp>

#include <cstddef>
#include <limits>

namespace dimwise::kernels {

/// The keys that a query sees by position: i + offset - before <= j <= i + offset + after.
struct key_window {
  /// Larger than any position, small enough that sums of a few do not overflow.
  static constexpr std::ptrdiff_t unbounded = std::numeric_limits<std::ptrdiff_t>::max() / 8;

  std::ptrdiff_t before = unbounded;
  std::ptrdiff_t after = unbounded;
  std::ptrdiff_t offset = 0;

  /// A query sees no later key; `offset` is the position of query 0 among the keys (the length of the KV cache).
  [[nodiscard]] static constexpr key_window causal(std::ptrdiff_t offset = 0) noexcept {
    return {unbounded, 0, offset};
  }
};

/// Extents and strides (in elements) of all heads of one call. Extents may be 0; a stride of 0 repeats elements.
template <class T>
struct attention_layout_of {
  std::size_t queries = 0;
  std::size_t keys = 0;
  std::size_t head_dim = 0;   ///< features of q and k
  std::size_t value_dim = 0;  ///< features of v and out

  std::ptrdiff_t q_row = 0;
  std::ptrdiff_t k_row = 0;
  std::ptrdiff_t v_row = 0;
  std::ptrdiff_t out_row = 0;
  // Strides other than 1 are gathered element by element: correct, but slow.
  std::ptrdiff_t q_feature = 1;
  std::ptrdiff_t k_feature = 1;
  std::ptrdiff_t v_feature = 1;
  std::ptrdiff_t out_feature = 1;

  std::ptrdiff_t bias_query = 0;
  std::ptrdiff_t bias_key = 0;
  std::ptrdiff_t allow_query = 0;
  std::ptrdiff_t allow_key = 0;
  std::ptrdiff_t lse_query = 1;

  T scale = 1;
  key_window window{};
};
using attention_layout = attention_layout_of<float>;

struct quantised_data;

/// Floats from one row of scores of a decoding step to the next: a part of a KV cache, and one line to avoid rows that
/// are a power of two apart.
inline constexpr std::size_t decode_score_row = 512 + 16;

/// Query rows of a group, multiplied by the scale and padded with zeros to whole vectors.
struct query_rows {
  const float* data;
  std::size_t row;
  std::size_t rows;
};

/// The outputs of those rows, padded to whole vectors; row r is multiplied by rescale[r] first.
struct output_rows {
  float* data;
  std::size_t row;
  std::size_t rows;
  const float* rescale;
};

/// Memory that is read next. Hardware prefetchers follow one stream, and a block of K is followed by one of V. A step
/// of 0 prefetches the same line.
struct next_lines {
  const char* at;
  std::ptrdiff_t step;
};

/// Writes rows [begin, begin + rows) as contiguous floats. The next `ahead` rows are prefetched.
using row_widener = void (*)(const quantised_data& from, std::size_t begin, std::size_t rows, std::size_t ahead,
                             std::size_t features, float* to) noexcept;
/// scores[r * decode_score_row + j] = q[r] . k[begin + j], times the scale if there is only one.
using row_scorer = void (*)(const quantised_data& k, std::size_t begin, std::size_t keys, std::size_t features,
                            const query_rows& q, float* scores, next_lines ahead) noexcept;
/// out[r] += sum_j weights[r * decode_score_row + j] v[begin + j], without the scale.
using row_adder = void (*)(const quantised_data& v, std::size_t begin, std::size_t keys, std::size_t features,
                           const float* weights, const output_rows& out, next_lines ahead) noexcept;

/// The functions of one architecture for low-precision rows. Integers of 4 bits are only widened.
struct stored_row_kernels {
  row_widener widen;
  row_scorer score;
  row_adder add;
};

/// Rows of low-precision keys or values: contiguous features in the given format, times a scale.
struct quantised_data {
  const void* data = nullptr;
  number_format format = number_format::float32;
  std::ptrdiff_t row = 0;            ///< in elements; in bytes for int4
  const float* scale = nullptr;      ///< null: 1
  std::ptrdiff_t scale_feature = 0;  ///< 0: one for all features
  /// The functions of the kernels; callers with such rows set them, so that others do not compile them.
  const stored_row_kernels* kernels = nullptr;
};

/// One query head and the key head it attends to.
template <class T>
struct attention_head_of {
  const T* q = nullptr;
  const T* k = nullptr;
  const T* v = nullptr;
  T* out = nullptr;
  T* lse = nullptr;             ///< optional: log(sum_j exp(logit)), -inf for a row that sees no key
  const T* bias = nullptr;      ///< optional: added to the scores; -inf hides a key
  const bool* allow = nullptr;  ///< optional: false hides a key
  quantised_data k_quantised;   ///< replaces k for formats other than float; only among floats
  quantised_data v_quantised;   ///< replaces v
  std::size_t visible_keys = std::numeric_limits<std::size_t>::max();  ///< keys from here on are padding
};
using attention_head = attention_head_of<float>;

/// Strides (in elements) of the gradients of all heads of one call. Elements of one gradient do not overlap, except in
/// d_bias: a stride of 0 there is a sum.
struct attention_gradient_layout {
  std::ptrdiff_t d_out_row = 0;
  std::ptrdiff_t d_q_row = 0;
  std::ptrdiff_t d_k_row = 0;
  std::ptrdiff_t d_v_row = 0;
  std::ptrdiff_t d_out_feature = 1;
  std::ptrdiff_t d_q_feature = 1;
  std::ptrdiff_t d_k_feature = 1;
  std::ptrdiff_t d_v_feature = 1;
  std::ptrdiff_t d_bias_query = 0;
  std::ptrdiff_t d_bias_key = 0;
  std::ptrdiff_t d_lse_query = 1;
};

/// The gradients of one query head. Its attention_head contains the inputs and outputs of the forward pass, `out` and
/// `lse` included.
template <class T>
struct attention_gradient_head_of {
  const T* d_out = nullptr;
  const T* d_lse = nullptr;  ///< optional: the gradient of lse
  T* d_q = nullptr;          ///< written unless null, like d_k and d_v; d_q is distinct for each head
  T* d_k = nullptr;          ///< summed over neighbours with the same d_k or d_v
  T* d_v = nullptr;
  T* d_bias = nullptr;  ///< optional: accumulated, so initialise it; heads that share it are neighbours
};
using attention_gradient_head = attention_gradient_head_of<float>;

}  // namespace dimwise::kernels

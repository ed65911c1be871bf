// SPDX-License-Identifier: BSL-1.0
// dimwise/kernels/dispatch/gradient_table.hpp -- the kernels of the backward pass as a table of functions, for
// training.
//
// Layer: kernels. Includes: table.hpp; no xsimd.
// A separate table: programs that compile kernels from the headers and do not train do not instantiate it
// (active_gradients.hpp).
// Tests: tests/kernels/attention_gradient/, tests/kernels/rows/
#pragma once

#include <dimwise/kernels/dispatch/table.hpp>
#include <dimwise/support/axis.hpp>

#include <cstddef>

namespace dimwise::kernels {

/// The backward pass of an attention_call: from the gradient of `out` to those of q, k, v and the bias.
///
/// Supports only float keys and values. A user's function of scores needs `own_derivative`, which replaces scores like
/// score_function::own and writes the derivative at each score.
template <class T>
struct attention_gradient_call_of {
  attention_call_of<T> forth;
  attention_gradient_layout layout;
  const attention_gradient_head_of<T>* gradients = nullptr;  ///< one for each head of `forth`
  void (*own_derivative)(void* context, float* scores, float* derivatives, std::size_t count) noexcept = nullptr;
};
using attention_gradient_call = attention_gradient_call_of<float>;

/// The backward pass of rows: of softmax and log-softmax from their results, of norms from their inputs.
template <class T>
struct rows_gradient_call_of {
  std::size_t rows = 0;
  std::size_t n = 0;
  const T* in = nullptr;  ///< softmax: the weights; log-softmax: its result; norms: what was normalised
  std::ptrdiff_t in_row = 0;
  const T* gradient = nullptr;
  std::ptrdiff_t gradient_row = 0;
  T* out = nullptr;  ///< may be `gradient`
  std::ptrdiff_t out_row = 0;
  T epsilon = 0;
  const T* gamma = nullptr;  ///< norms: a factor per column
  T* d_gamma = nullptr;      ///< norms: accumulated unless null
  T* d_beta = nullptr;
};
using rows_gradient_call = rows_gradient_call_of<float>;

using dimwise::detail::added_row;

/// out[ids[r]] += in[r] for rows of `n` contiguous elements, in the order of r.
template <class T>
struct scatter_call_of {
  std::size_t rows = 0;
  std::size_t n = 0;
  const std::size_t* ids = nullptr;
  std::ptrdiff_t id_step = 1;
  const T* in = nullptr;
  std::ptrdiff_t in_row = 0;
  T* out = nullptr;
  std::ptrdiff_t out_row = 0;
  /// In place of ids and strides, where a row of `out` is a sum of very many: those of each are side by side, and their
  /// sum is carried.
  const added_row* pairs = nullptr;
};
using scatter_call = scatter_call_of<float>;

/// Cross-entropy of rows of `n` contiguous logits: the losses, their gradients, or both.
template <class T>
struct cross_entropy_call_of {
  std::size_t rows = 0;
  std::size_t n = 0;
  const T* logits = nullptr;
  std::ptrdiff_t logits_row = 0;
  const std::size_t* ids = nullptr;  ///< below `n`; or `targets`
  std::ptrdiff_t id_step = 1;
  const T* targets = nullptr;  ///< distributions in place of ids
  std::ptrdiff_t targets_row = 0;
  T smoothing = 0;                  ///< for ids: s / n for each class, the rest for the id
  const T* class_weight = nullptr;  ///< a factor per class
  const bool* counted = nullptr;    ///< null: all rows count
  std::ptrdiff_t counted_step = 1;
  T* loss = nullptr;  ///< written, where not null
  std::ptrdiff_t loss_step = 1;
  const T* factor = nullptr;  ///< the gradient of each row's loss; null: 1
  std::ptrdiff_t factor_step = 1;
  T* d_logits = nullptr;  ///< written unless null; may be `logits`
  std::ptrdiff_t d_logits_row = 0;
};
using cross_entropy_call = cross_entropy_call_of<float>;

/// One step of Adam for `n` contiguous numbers:
///   g = gradient + decay p,  m = first_kept m + first_added g,  v = second_kept v + second_added g²,
///   p = kept p - size m / (√v root + epsilon)
template <class T>
struct adam_call_of {
  std::size_t n = 0;
  const T* gradient = nullptr;
  T* parameter = nullptr;
  T* first = nullptr;   ///< m
  T* second = nullptr;  ///< v
  T decay = 0;
  T first_kept = 0;
  T first_added = 0;
  T second_kept = 0;
  T second_added = 0;
  T kept = 1;
  T size = 0;
  T root = 1;
  T epsilon = 0;
};
using adam_call = adam_call_of<float>;

/// The kernels of one architecture for the backward pass, for elements of float or of double. Scratch is aligned to 64
/// bytes; its size is returned by the preceding function.
template <class T>
struct element_gradient_table {
  void (*softmax_gradient)(const rows_gradient_call_of<T>&);
  void (*log_softmax_gradient)(const rows_gradient_call_of<T>&);
  std::size_t (*norm_gradient_bytes)(const rows_gradient_call_of<T>&);
  void (*standardize_gradient)(const rows_gradient_call_of<T>&, void* scratch, const runner&);
  void (*root_mean_square_gradient)(const rows_gradient_call_of<T>&, void* scratch, const runner&);
  /// out = g f'(x) for n contiguous elements; `out` may be `x` or `g`.
  void (*map_gradient)(function f, std::size_t n, const T* x, const T* g, T* out);
  std::size_t (*attention_gradient_bytes)(const attention_gradient_call_of<T>&, std::size_t workers);
  void (*attention_gradient)(const attention_gradient_call_of<T>&, void* scratch, const runner&);
  void (*scatter_add)(const scatter_call_of<T>&, const runner&);
  void (*cross_entropy)(const cross_entropy_call_of<T>&);
  void (*adam)(const adam_call_of<T>&);
  /// The sum of squares in float64, in a fixed order.
  double (*sum_of_squares)(std::size_t n, const T* x);
};
using gradient_table = element_gradient_table<float>;

}  // namespace dimwise::kernels

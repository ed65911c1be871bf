// SPDX-License-Identifier: BSL-1.0
// dimwise/kernels/dispatch/table.hpp -- the kernels of one architecture as a table of functions, for callers.
//
// Layer: kernels. Includes: light standard headers only; no xsimd.
// Header-only programs fill the table for the user's flags (active.hpp); the compiled library selects one at run time.
// Tests: tests/dispatch/
#pragma once

#include <dimwise/kernels/attention/layout.hpp>
#include <dimwise/kernels/executor.hpp>

#include <cstddef>
#include <type_traits>

namespace dimwise::kernels {

/// An executor behind pointers, so that compiled kernels can call it; a null runner uses the calling thread.
struct runner {
  using task = void (*)(void* context, std::size_t task, std::size_t worker);

  std::size_t workers = 1;
  void (*run)(void* self, std::size_t count, task f, void* context) = nullptr;
  void* self = nullptr;

  [[nodiscard]] std::size_t worker_count() const noexcept { return workers; }
  template <class F>
  void parallel_for(std::size_t count, F&& f) const {
    if (run == nullptr || workers == 1 || count < 2) {
      for (std::size_t i = 0; i < count; ++i) { f(i, std::size_t{0}); }
      return;
    }
    using callable = std::remove_reference_t<F>;
    run(self, count, [](void* context, std::size_t i, std::size_t worker) {
      (*static_cast<callable*>(context))(i, worker);
    }, const_cast<void*>(static_cast<const void*>(&f)));
  }
};

// The unary functions that kernels apply: each is called alike here, in `fn` and, with `_of`, in kernels/math.hpp. The
// activations are also available in the epilogue of a product.
#define DIMWISE_DETAIL_ACTIVATIONS(F) F(relu) F(gelu) F(gelu_tanh) F(silu) F(sigmoid) F(tanh) F(exp)
#define DIMWISE_DETAIL_OTHER_FUNCTIONS(F) F(log) F(erf) F(sqrt) F(abs) F(square) F(sin) F(cos) F(softplus) F(negate)
#define DIMWISE_DETAIL_FUNCTIONS(F) DIMWISE_DETAIL_ACTIVATIONS(F) DIMWISE_DETAIL_OTHER_FUNCTIONS(F)
#define DIMWISE_DETAIL_ENUMERATOR(word) word,
enum class function : unsigned char { none, DIMWISE_DETAIL_FUNCTIONS(DIMWISE_DETAIL_ENUMERATOR) };
#undef DIMWISE_DETAIL_ENUMERATOR
[[nodiscard]] constexpr bool is_activation(function f) { return f != function::none && f <= function::exp; }

/// The binary operations that kernels apply. `hide` gives the first operand, but −∞ if the second is −∞. `send_times`
/// and `send_divided` backpropagate: 0 if the first operand is 0, for any second operand.
enum class operation : unsigned char { add, subtract, multiply, divide, max, min, hide, send_times, send_divided };

/// The comparisons that kernels apply.
enum class relation : unsigned char { less, less_equal, equal, not_equal };

/// The reductions that kernels apply.
enum class total : unsigned char { sum, max, min, norm };

/// The changes of scores before softmax: a user's function, or a soft cap c·tanh(s/c); then −slope·|distance|, with a
/// slope for each head.
struct score_function {
  /// Replaces `count` scores of existing pairs, some of them repeated; several workers may call it concurrently.
  void (*own)(void* context, float* scores, std::size_t count) noexcept = nullptr;
  void* context = nullptr;
  float soft_cap = 0;             ///< 0: none
  const float* slopes = nullptr;  ///< one per head of the call, or null
  std::ptrdiff_t distance = 0;    ///< position of key 0 minus position of query 0
  [[nodiscard]] bool any() const noexcept { return own != nullptr || soft_cap != 0 || slopes != nullptr; }
};

/// `count` heads of one layout; `group` consecutive heads share k and v.
template <class T>
struct attention_call_of {
  attention_layout_of<T> layout{};
  const attention_head_of<T>* heads = nullptr;
  std::size_t count = 0;
  std::size_t group = 1;
  bool few_queries = false;  ///< read the keys once for all queries of a group; only among floats
  score_function score{};    ///< only among floats
};
using attention_call = attention_call_of<float>;

/// The epilogue of a product: f(scale · x + bias) + residual. The residual may be C itself.
template <class T>
struct product_epilogue_of {
  T scale = 1;
  const T* column_bias = nullptr;
  const T* row_bias = nullptr;
  function activation = function::none;
  bool residual = false;

  [[nodiscard]] constexpr bool any() const noexcept {
    return scale != 1 || column_bias != nullptr || row_bias != nullptr || activation != function::none || residual;
  }
};
using product_epilogue = product_epilogue_of<float>;

/// `count` products C = A B of one shape, with strided matrices.
template <class T>
struct product_call_of {
  struct pointers {
    const T* a;
    const T* b;
    T* c;
    const T* residual;
  };
  std::size_t m = 0;
  std::size_t n = 0;
  std::size_t k = 0;
  std::ptrdiff_t a_row = 0;
  std::ptrdiff_t a_column = 0;
  std::ptrdiff_t b_row = 0;
  std::ptrdiff_t b_column = 0;
  std::ptrdiff_t c_row = 0;
  std::ptrdiff_t c_column = 0;
  std::ptrdiff_t residual_row = 0;
  std::ptrdiff_t residual_column = 0;
  const pointers* problems = nullptr;
  std::size_t count = 0;
  const T* packed_b = nullptr;  ///< B packed in advance; only for one problem
  bool onto = false;            ///< C += A B; without an epilogue
  product_epilogue_of<T> epilogue{};
};
using product_call = product_call_of<float>;

/// Rows of `n` contiguous elements.
template <class T>
struct rows_call_of {
  std::size_t rows = 0;
  std::size_t n = 0;
  const T* in = nullptr;
  std::ptrdiff_t in_row = 0;
  T* out = nullptr;
  std::ptrdiff_t out_row = 0;
  T hidden = 0;  ///< the softmax of −∞
  T epsilon = 0;
  const T* gamma = nullptr;  ///< standardize and root_mean_square: a factor per column
  const T* beta = nullptr;   ///< standardize: a summand per column
};
using rows_call = rows_call_of<float>;

/// The kernels of one architecture that exist for elements of float and of double. Scratch is aligned to 64 bytes; its
/// size is returned by the preceding function.
template <class T>
struct element_table {
  std::size_t (*product_bytes)(const product_call_of<T>&, std::size_t workers);
  /// Ignores the epilogue.
  void (*product)(const product_call_of<T>&, void* scratch, const runner&);
  /// Like `attention_small`, for products; null if there is an epilogue.
  bool (*product_small)(const product_call_of<T>&);
  std::size_t (*packed_bytes)(std::size_t k, std::size_t n);
  void (*pack)(std::size_t k, std::size_t n, const T* b, std::ptrdiff_t row, std::ptrdiff_t column, T* packed);
  void (*softmax)(const rows_call_of<T>&);
  void (*log_softmax)(const rows_call_of<T>&);
  void (*standardize)(const rows_call_of<T>&);
  void (*root_mean_square)(const rows_call_of<T>&);
  void (*map)(function f, std::size_t n, const T* in, T* out);
  /// out = a (operation) b for n contiguous elements; the step of an operand is 0 for a single number, otherwise 1.
  void (*zip)(operation f, std::size_t n, const T* a, std::ptrdiff_t a_step, const T* b, std::ptrdiff_t b_step, T* out);
  /// The same for comparisons.
  void (*compare)(relation f, std::size_t n, const T* a, std::ptrdiff_t a_step, const T* b, std::ptrdiff_t b_step,
                  bool* out);
  /// out = m ? a : b; `m` has any step.
  void (*choose)(std::size_t n, const bool* m, std::ptrdiff_t m_step, const T* a, std::ptrdiff_t a_step, const T* b,
                 std::ptrdiff_t b_step, T* out);
  /// Reduces `n` contiguous elements to one number.
  T (*fold_row)(total f, std::size_t n, const T* in);
  /// Reduces `extent` rows of contiguous columns, `stride` apart, to one row, starting from `out` if `onto`.
  void (*fold_columns)(total f, std::size_t extent, std::size_t columns, const T* in, std::ptrdiff_t stride, T* out,
                       bool onto);
  std::size_t (*attention_bytes)(const attention_call_of<T>&, std::size_t workers);
  void (*attention)(const attention_call_of<T>&, void* scratch, const runner&);
};

/// The kernels of one architecture, except those of the backward pass (gradient_table.hpp). Scratch is aligned to 64
/// bytes; its size is returned by the preceding function.
struct table : element_table<float> {
  const char* architecture;
  /// Computes small calls without scratch or threads; returns false without computing other calls.
  bool (*attention_small)(const attention_call&);
  const stored_row_kernels* stored_rows;  ///< for `quantised_data`
  void (*product_with_epilogue)(const product_call&, void* scratch, const runner&);
};

}  // namespace dimwise::kernels

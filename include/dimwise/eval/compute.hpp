// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/compute.hpp -- which plan a node takes: fused attention, products, rows, or the plain loops.
//
// Layer: eval. The only place that chooses. float32 takes kernels where there are any; all else, and whatever no kernel
// covers, runs plainly.
// Tests: tests/eval/plan.test.cpp
#pragma once

#include <dimwise/eval/execution.hpp>
#include <dimwise/eval/plain.hpp>

#if !defined(DIMWISE_PLAIN_ONLY)
#include <dimwise/eval/fast_attention.hpp>
#include <dimwise/eval/fast_choice.hpp>
#include <dimwise/eval/fast_elements.hpp>
#include <dimwise/eval/fast_epilogue.hpp>
#include <dimwise/eval/fast_product.hpp>
#include <dimwise/eval/fast_reduce.hpp>
#include <dimwise/eval/fast_rows.hpp>
#include <dimwise/eval/fast_static.hpp>
#endif

namespace dimwise::detail {

// Set while an evaluation asks for the plain loops alone.
inline thread_local bool plainly = false;

template <class C>
inline constexpr bool has_kernels = kernels::available && std::is_same_v<C, float>;

// Whether rows with these loops go to a kernel.
template <class C, class How, class Loops>
bool rows_have_kernel([[maybe_unused]] const Loops& loops) {
#if !defined(DIMWISE_PLAIN_ONLY)
  if constexpr (has_kernels<C> && has_row_kernel<How>) { return !plainly && rows_fit(loops); }
#endif
  return false;
}
template <class How, class Loops, class C>
bool rows_are_done([[maybe_unused]] const Loops& loops, [[maybe_unused]] C* to, [[maybe_unused]] const C* from,
                   [[maybe_unused]] C hidden, [[maybe_unused]] C epsilon) {
#if !defined(DIMWISE_PLAIN_ONLY)
  if constexpr (has_kernels<C> && has_row_kernel<How>) {
    if (rows_have_kernel<C, How>(loops)) {
      rows_by_kernel<How>(loops, to, from, hidden, epsilon);
      return true;
    }
  }
#endif
  return false;
}

// The same for reductions, masks and biases.
template <class N, class Loops, class C, class T>
bool reduction_is_done([[maybe_unused]] const Loops& loops, [[maybe_unused]] T* to, [[maybe_unused]] const C* from) {
#if !defined(DIMWISE_PLAIN_ONLY)
  if constexpr (has_kernels<C> && is_fold<N>) {
    if (!plainly && fold_fits(loops)) {
      fold_by_kernel<typename operation_of<N>::how>(loops, to, from);
      return true;
    }
  }
#endif
  return false;
}
template <class N, class C>
bool mask_is_done([[maybe_unused]] const N& n, [[maybe_unused]] const lowered<C>& x,
                  [[maybe_unused]] const lowered<bool>& visible, [[maybe_unused]] target<C> to) {
#if !defined(DIMWISE_PLAIN_ONLY)
  if constexpr (has_kernels<C>) { return !plainly && mask_by_kernel(n, x, visible, to); }
#endif
  return false;
}
template <class Shape, class E, class BiasAxes, class C>
bool bias_is_done([[maybe_unused]] const extents_for<Shape>& extents, [[maybe_unused]] const lowered<C>& x,
                  [[maybe_unused]] const lowered<C>& bias, [[maybe_unused]] target<C> to) {
#if !defined(DIMWISE_PLAIN_ONLY)
  if constexpr (has_kernels<C>) { return !plainly && bias_by_kernel<Shape, E, BiasAxes>(extents, x, bias, to); }
#endif
  return false;
}

// Each of these says whether a kernel took the node; what none takes is done plainly, and counted as that by its caller.
template <class C, class Shape, class How, class Over, class E>
bool compute(const rowwise<Shape, How, Over, E>& n, target<compute_t<C, value_of<E>>> to) {
  return compute_rows<C>(n, to, compute_t<C, value_of<E>>(0));
}

template <class C, class Shape, class Over, class A, class B>
bool compute(const contraction<Shape, Over, A, B>& n, target<C> to) {
#if !defined(DIMWISE_PLAIN_ONLY)
  if constexpr (has_kernels<C>) {
    if (!plainly) {
      using result = axes_of_list_t<typename product_facts<Over, list<>, shape_of<A>, shape_of<B>>::result>;
      if constexpr (attends_left<contraction<Shape, Over, A, B>>) {
        if (attend<Over, result>(n, n.template child<0>(), n.template child<1>(), to)) { return true; }
      } else if constexpr (attends_right<contraction<Shape, Over, A, B>>) {
        if (attend<Over, result>(n, n.template child<1>(), n.template child<0>(), to)) { return true; }
      } else if constexpr (gives_hidden_weights<A> || gives_hidden_weights<B>) {
        if (worth_a_kernel(n)) {
          const auto a = lower_or_weights<C>(n.template child<0>());
          const auto b = lower_or_weights<C>(n.template child<1>());
          multiply(n, a, b, to);
          axis written[max_rank];
          axis_extents<axes_for<Shape>>::write(n.extents(), written);
          for (std::size_t i = 0; i < axes_for<Shape>::size; ++i) { written[i].stride = to.axes[i].stride; }
          if (!may_be_spoiled<A, B>(a, b, axes_for<Shape>::size, written, to.data)) { return true; }
        }
      } else {
        const auto a = lower<C>(n.template child<0>());
        const auto b = lower<C>(n.template child<1>());
        if (worth_a_kernel(n)) {
          multiply(n, a, b, to);
          return true;
        }
        contract_axes<C, false, Over, typename product_facts<Over, list<>, shape_of<A>, shape_of<B>>::result, Shape, A,
                      B>(n.extents(), a, b, n.template child<0>(), to);
        return false;
      }
    }
  }
#endif
  compute_plainly<C>(n, to);
  return false;
}

#if !defined(DIMWISE_PLAIN_ONLY)
template <class C, class Shape, class T, class X, class U>
bool compute_square(const elementwise<Shape, T, fn::pow, X, constant<U>>& n, target<compute_t<C, T>> to) {
  const auto x = lower<C>(n.template child<0>());
  if (map_by_kernel<Shape, X>(kernels::function::square, n.extents(), x, to)) { return true; }
  elementwise_loops<C>(n, to, std::tuple<const lowered<C>&, lowered<C>>(x, lower<C>(n.template child<1>())),
                       std::index_sequence<0, 1>{});
  return false;
}
template <class C, class Shape, class T, class F, class... X, std::size_t... I>
bool compute_by_elements(const elementwise<Shape, T, F, X...>& n, target<compute_t<C, T>> to,
                         std::index_sequence<I...> all) {
  const std::tuple<lowered<compute_t<C, value_of<X>>>...> x{lower<C>(n.template child<I>())...};
  if (elements_by_kernel(n, x, to, all)) { return true; }
  elementwise_loops<C>(n, to, x, all);
  return false;
}
#endif

template <class C, class Shape, class T, class F, class... X>
bool compute(const elementwise<Shape, T, F, X...>& n, target<compute_t<C, T>> to) {
#if !defined(DIMWISE_PLAIN_ONLY)
  using N = elementwise<Shape, T, F, X...>;
  if constexpr (has_kernels<compute_t<C, T>> && norm_chain<N>::matches) {
    if (!plainly) { return norm_and_finish(n, to); }
  } else if constexpr (has_kernels<compute_t<C, T>> && product_chain<N>::matches) {
    if (!plainly && multiply_and_finish(n, to)) { return true; }
  }
  if constexpr (has_kernels<compute_t<C, T>> && is_number_power<N>) {
    if (!plainly && is_square(n)) { return compute_square<C>(n, to); }
  } else if constexpr (has_kernels<compute_t<C, T>> && is_map<N>) {
    if (!plainly) {
      const auto x = lower<C>(n.template child<0>());
      if (map_by_kernel<Shape, X...>(function_code<F>, n.extents(), x, to)) { return true; }
      elementwise_loops<C>(n, to, std::tie(x), std::index_sequence_for<X...>{});
      return false;
    }
  } else if constexpr (has_kernels<compute_t<C, T>> && is_zip<N>) {
    if (!plainly) {
      const auto a = lower<C>(n.template child<0>());
      const auto b = lower<C>(n.template child<1>());
      if (zip_by_kernel<Shape, X...>(operation_code<F>, n.extents(), a, b, to)) { return true; }
      elementwise_loops<C>(n, to, std::tie(a, b), std::index_sequence_for<X...>{});
      return false;
    }
  } else if constexpr (has_kernels<C> && element_kernel<N>::known) {
    if (!plainly) { return compute_by_elements<C>(n, to, std::index_sequence_for<X...>{}); }
  }
#endif
  compute_plainly<C>(n, to);
  return false;
}

}  // namespace dimwise::detail

namespace dimwise {

/// For as long as it lives, what this thread evaluates runs by the plain loops alone, in the element type: a second
/// opinion on a program that stays as it is. `const plain_loops only;`
class plain_loops {
 public:
  plain_loops() : before_(detail::plainly) { detail::plainly = true; }
  plain_loops(const plain_loops&) = delete;
  plain_loops& operator=(const plain_loops&) = delete;
  ~plain_loops() { detail::plainly = before_; }

 private:
  bool before_;
};

}  // namespace dimwise

// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/kernels/loss.hpp -- cross-entropy and its gradient by vectorized kernels: rows of contiguous logits.
//
// Layer: eval. Each specialises `by_kernel` (eval/kernels/elements.hpp).
// Tests: tests/grad/training/kernels.test.cpp
#pragma once

#include <dimwise/eval/kernels/backward.hpp>
#include <dimwise/eval/loops/loss.hpp>

#if !defined(DIMWISE_PLAIN_ONLY)

namespace dimwise::detail {

// The alternatives are contiguous, and their weights are the same for every row. `first` is the pointer of the logits
// in the loops; after it come the targets, the weights of the alternatives, and where it counts.
template <class Target, std::size_t K>
bool loss_rows_fit(const logit_nests<K>& nests, std::size_t first, const loss_operands<float, Target>& x) {
  const auto& inside = nests.inside;
  if (x.divergence || inside.rank != 1 || inside.empty() || inside.stride[first][0] != 1) { return false; }
  if constexpr (!is_id_number<Target>) {
    if (x.smoothing != 0 || inside.stride[first + 1][0] != 1) { return false; }
  }
  if (x.has_weights) {
    if (inside.stride[first + 2][0] != 1) { return false; }
    for (std::size_t i = 0; i < nests.outside.rank; ++i) {
      if (nests.outside.stride[first + 2][i] != 0) { return false; }
    }
  }
  return true;
}

// f(call, offsets, steps) for parts of the rows; the call says all but what is written. An id outside throws.
template <std::size_t First, class Target, std::size_t K, class F>
void each_part_of_loss(context& cx, const logit_nests<K>& nests, const loss_operands<float, Target>& x, const F& f) {
  kernels::cross_entropy_call call;
  call.n = nests.inside.extent[0];
  call.smoothing = static_cast<float>(x.smoothing);
  if (x.has_weights) { call.class_weight = x.weights; }
  const std::size_t rows_of_part = call.n >= part_elements ? 1 : part_elements / call.n;
  kernels::for_each_row(nests.outside,
                        [&](const std::ptrdiff_t(&o)[K], std::size_t count, const std::ptrdiff_t(&s)[K]) {
    if constexpr (is_id_number<Target>) {
      for (std::size_t i = 0; i < count; ++i) {
        const auto j = static_cast<std::ptrdiff_t>(i);
        if (x.counted[o[First + 3] + j * s[First + 3]]) {
          (void)checked_id("cross_entropy", x.targets[o[First + 1] + j * s[First + 1]], call.n, x.alternatives);
        }
      }
    }
    in_parts(cx, count, rows_of_part, [&](std::size_t begin, std::size_t end) {
      const auto at = static_cast<std::ptrdiff_t>(begin);
      const auto place = [&](std::size_t pointer) { return o[pointer] + at * s[pointer]; };
      kernels::cross_entropy_call part = call;
      part.rows = end - begin;
      part.logits = x.logits + place(First);
      part.logits_row = s[First];
      if constexpr (is_id_number<Target>) {
        part.ids = x.targets + place(First + 1);
        part.id_step = s[First + 1];
      } else {
        part.targets = x.targets + place(First + 1);
        part.targets_row = s[First + 1];
      }
      part.counted = x.counted + place(First + 3);
      part.counted_step = s[First + 3];
      f(part, place, s);
    });
  });
}

// By the kernel where the rows fit, or by the loops.
template <class Target>
void compute_cross_entropy(context& cx, const logit_nests<5>& nests, float* to, const loss_operands<float, Target>& x) {
  if (cx.reference_forced() || !loss_rows_fit(nests, 1, x)) {
    cx.count(plan_kind::plain);
    return cross_entropy_by_loops(nests, to, x);
  }
  cx.count(plan_kind::rows);
  each_part_of_loss<1>(cx, nests, x, [&](auto& call, const auto& place, const auto& step) {
    call.loss = to + place(0);
    call.loss_step = step[0];
    kernels::active_gradients().cross_entropy(call);
  });
}
template <class Target>
bool loss_back_fits(const logit_nests<6>& nests, const loss_operands<float, Target>& x) {
  return nests.inside.rank == 1 && nests.inside.stride[0][0] == 1 && loss_rows_fit(nests, 2, x);
}
template <class Target>
void compute_cross_entropy_back(context& cx, const logit_nests<6>& nests, float* to, const float* factors,
                                const loss_operands<float, Target>& x) {
  if (cx.reference_forced() || !loss_back_fits(nests, x)) {
    cx.count(plan_kind::plain);
    return cross_entropy_back_by_loops(nests, to, factors, x);
  }
  cx.count(plan_kind::rows);
  each_part_of_loss<2>(cx, nests, x, [&](auto& call, const auto& place, const auto& step) {
    call.d_logits = to + place(0);
    call.d_logits_row = step[0];
    call.factor = factors + place(1);
    call.factor_step = step[1];
    kernels::active_gradients().cross_entropy(call);
  });
}

template <class X, class Y, class W>
inline constexpr bool has_loss_kernel =
    is_float<X> && is_float<W> && (!real_element<compute_t<float, value_of<Y>>> || is_float<Y>);

// A strategy: the loss of each row.
template <class Rest, class T, class V, class X, class Y, class W, class S>
struct by_kernel<cross_entropy_node<Rest, T, V, X, Y, W, S>> {
  using N = cross_entropy_node<Rest, T, V, X, Y, W, S>;
  static constexpr bool matches = has_loss_kernel<X, Y, W>;
  static constexpr bool in_double = false;
  static constexpr plan_kind kind = plan_kind::rows;

  template <class Lowered>
  static bool fits(const N& n, const axis* to, const Lowered& x) {
    return loss_rows_fit(logit_loops<N, V, 0>::of(n, to, x), 1, operands(n, x));
  }
  template <class C, class Lowered>
  static void compute(context& cx, const N& n, target<float> to, const Lowered& x) {
    compute_cross_entropy(cx, logit_loops<N, V, 0>::of(n, to.axes, x), to.data, operands(n, x));
  }

 private:
  template <class Lowered>
  static auto operands(const N& n, const Lowered& x) {
    return loss_operands_of<0, V>(n, x, n.op().smoothing, n.op().divergence);
  }
};

// A strategy: the gradient of each row's logits.
template <class V, class Shape, class T, class G, class X, class Y, class W, class S>
struct by_kernel<node<cross_entropy_back<V>, Shape, T, G, X, Y, W, S>> {
  using N = node<cross_entropy_back<V>, Shape, T, G, X, Y, W, S>;
  static constexpr bool matches = has_loss_kernel<X, Y, W> && is_float<G>;
  static constexpr bool in_double = false;
  static constexpr plan_kind kind = plan_kind::rows;

  template <class Lowered>
  static bool fits(const N& n, const axis* to, const Lowered& x) {
    return loss_back_fits(logit_loops<N, V, 1>::of(n, to, x), loss_operands_of<1, V>(n, x, n.op().smoothing, false));
  }
  template <class C, class Lowered>
  static void compute(context& cx, const N& n, target<float> to, const Lowered& x) {
    compute_cross_entropy_back(cx, logit_loops<N, V, 1>::of(n, to.axes, x), to.data, child_in<0>(x).data,
                               loss_operands_of<1, V>(n, x, n.op().smoothing, false));
  }
};

#if DIMWISE_DETAIL_HAS_LIBRARY
#define DIMWISE_DETAIL_CROSS_ENTROPY(Target)                                                                  \
  DIMWISE_DETAIL_LIBRARY_TEMPLATE void compute_cross_entropy<Target>(context&, const logit_nests<5>&, float*, \
                                                                     const loss_operands<float, Target>&);    \
  DIMWISE_DETAIL_LIBRARY_TEMPLATE void compute_cross_entropy_back<Target>(                                    \
      context&, const logit_nests<6>&, float*, const float*, const loss_operands<float, Target>&);
DIMWISE_DETAIL_CROSS_ENTROPY(float)
DIMWISE_DETAIL_CROSS_ENTROPY(std::size_t)
#undef DIMWISE_DETAIL_CROSS_ENTROPY
#endif

}  // namespace dimwise::detail

#endif

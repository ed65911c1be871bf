// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/kernels_loss.hpp -- cross-entropy and its gradient by vectorized kernels: rows of contiguous logits.
//
// Layer: eval. Each is a specialisation of a strategy of the one list (eval/strategies.hpp).
// Tests: tests/grad/training/kernels.test.cpp
#pragma once

#include <dimwise/eval/kernels_backward.hpp>
#include <dimwise/eval/loops_loss.hpp>

#if !defined(DIMWISE_PLAIN_ONLY)

namespace dimwise::detail {

// The loss of a row and its gradient take the same call. `First` is the pointer of the logits in the loops; behind it
// come the targets, the weights of the alternatives, and where it counts.
template <std::size_t First, class X, class Y, class W>
struct cross_entropy_rows {
  using target_type = compute_t<float, value_of<Y>>;
  static constexpr bool by_ids = !real_element<target_type>;
  static constexpr bool matches = is_float<X> && is_float<W> && (by_ids || is_float<Y>);

  // The alternatives are contiguous, and their weights are the same for every row.
  template <std::size_t K>
  static bool fits(const kernels::loop_nest<K>& outside, const kernels::loop_nest<K>& inside, double smoothing) {
    if (inside.rank != 1 || inside.empty() || inside.stride[First][0] != 1) { return false; }
    if constexpr (!by_ids) {
      if (smoothing != 0 || inside.stride[First + 1][0] != 1) { return false; }
    }
    if constexpr (!is_constant<W>) {
      if (inside.stride[First + 2][0] != 1) { return false; }
      for (std::size_t i = 0; i < outside.rank; ++i) {
        if (outside.stride[First + 2][i] != 0) { return false; }
      }
    }
    return true;
  }

  // f(call, offsets, steps) for parts of the rows; the call says all but what is written. An id outside throws.
  template <std::size_t K, class F>
  static void run(context& cx, const kernels::loop_nest<K>& outside, const kernels::loop_nest<K>& inside,
                  double smoothing, const float* logits, const target_type* targets, const float* weights,
                  const bool* counted, const F& f) {
    kernels::cross_entropy_call call;
    call.n = inside.extent[0];
    call.smoothing = static_cast<float>(smoothing);
    if constexpr (!is_constant<W>) { call.class_weight = weights; }
    const std::size_t rows_of_part = call.n >= part_elements ? 1 : part_elements / call.n;
    kernels::for_each_row(outside, [&](const std::ptrdiff_t(&o)[K], std::size_t count, const std::ptrdiff_t(&s)[K]) {
      if constexpr (by_ids) {
        for (std::size_t i = 0; i < count; ++i) {
          const auto j = static_cast<std::ptrdiff_t>(i);
          if (counted[o[First + 3] + j * s[First + 3]]) {
            (void)checked_id("cross_entropy", targets[o[First + 1] + j * s[First + 1]], call.n);
          }
        }
      }
      in_parts(cx, count, rows_of_part, [&](std::size_t begin, std::size_t end) {
        const auto at = static_cast<std::ptrdiff_t>(begin);
        const auto place = [&](std::size_t pointer) { return o[pointer] + at * s[pointer]; };
        kernels::cross_entropy_call part = call;
        part.rows = end - begin;
        part.logits = logits + place(First);
        part.logits_row = s[First];
        if constexpr (by_ids) {
          part.ids = numbers_of(targets + place(First + 1));
          part.id_step = s[First + 1];
        } else {
          part.targets = targets + place(First + 1);
          part.targets_row = s[First + 1];
        }
        part.counted = counted + place(First + 3);
        part.counted_step = s[First + 3];
        f(part, place, s);
      });
    });
  }
};

// A strategy: the loss of each row.
template <class Rest, class T, class V, class X, class Y, class W, class S>
struct by_row_kernel<cross_entropy_node<Rest, T, V, X, Y, W, S>>
    : kernel_or_loops<by_row_kernel<cross_entropy_node<Rest, T, V, X, Y, W, S>>> {
  using N = cross_entropy_node<Rest, T, V, X, Y, W, S>;
  using rows = cross_entropy_rows<1, X, Y, W>;
  static constexpr bool matches = rows::matches;
  static constexpr plan_kind kind = plan_kind::rows;
  using nests = logit_loops<N, V, 0>;

  template <class Lowered>
  static bool fits(const N& n, const axis* to, const Lowered& x) {
    const nests all(n, to, x);
    return !n.op().divergence && rows::fits(all.outside, all.inside, n.op().smoothing);
  }
  template <class Lowered>
  static void run(context& cx, const N& n, target<float> to, const Lowered& x) {
    const nests all(n, to.axes, x);
    rows::run(cx, all.outside, all.inside, n.op().smoothing, child_in<0>(x).data, child_in<1>(x).data,
              child_in<2>(x).data, child_in<3>(x).data, [&](auto& call, const auto& place, const auto& step) {
      call.loss = to.data + place(0);
      call.loss_step = step[0];
      kernels::active_gradients().cross_entropy(call);
    });
  }
};

// A strategy: the gradient of each row's logits.
template <class V, class Shape, class T, class G, class X, class Y, class W, class S>
struct by_row_kernel<node<cross_entropy_back<V>, Shape, T, G, X, Y, W, S>>
    : kernel_or_loops<by_row_kernel<node<cross_entropy_back<V>, Shape, T, G, X, Y, W, S>>> {
  using N = node<cross_entropy_back<V>, Shape, T, G, X, Y, W, S>;
  using rows = cross_entropy_rows<2, X, Y, W>;
  static constexpr bool matches = rows::matches && is_float<G>;
  static constexpr plan_kind kind = plan_kind::rows;
  using nests = logit_loops<N, V, 1>;

  template <class Lowered>
  static bool fits(const N& n, const axis* to, const Lowered& x) {
    const nests all(n, to, x);
    return all.inside.rank == 1 && all.inside.stride[0][0] == 1 &&
           rows::fits(all.outside, all.inside, n.op().smoothing);
  }
  template <class Lowered>
  static void run(context& cx, const N& n, target<float> to, const Lowered& x) {
    const nests all(n, to.axes, x);
    rows::run(cx, all.outside, all.inside, n.op().smoothing, child_in<1>(x).data, child_in<2>(x).data,
              child_in<3>(x).data, child_in<4>(x).data, [&](auto& call, const auto& place, const auto& step) {
      call.d_logits = to.data + place(0);
      call.d_logits_row = step[0];
      call.factor = child_in<0>(x).data + place(1);
      call.factor_step = step[1];
      kernels::active_gradients().cross_entropy(call);
    });
  }
};

}  // namespace dimwise::detail

#endif

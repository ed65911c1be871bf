// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/loops/loss.hpp -- the reference loops of cross-entropy and of its gradient.
//
// Layer: eval. A row is read three times at most: its largest element, its sum of exponentials, its terms.
// Tests: tests/grad/training/loss.test.cpp
#pragma once

#include <dimwise/eval/loops/ids.hpp>
#include <dimwise/expr/rows/loss.hpp>
#include <dimwise/support/math.hpp>

namespace dimwise::detail {

// The pointers of a loss: what is written, then the children in order.
template <class N>
inline constexpr std::size_t loss_pointers = 1 + children_t<N>::size;

// The loops over `Axes` of the node's result and of its children.
template <class N, class Axes, class Extents, class Lowered, std::size_t... I>
kernels::loop_nest<loss_pointers<N>> loss_loops(const Extents& e, const axis* to, const Lowered& x,
                                                std::index_sequence<I...>) {
  axis extents[max_rank];
  axis_extents<Axes>::write(e, extents);
  std::ptrdiff_t strides[loss_pointers<N>][max_rank] = {};
  align<Axes, axes_for<shape_of<N>>>(to, strides[0]);
  (align<Axes, child_axes<element_t<I, children_t<N>>>>(child_in<I>(x).axes, strides[1 + I]), ...);
  return nest_over(Axes::size, extents, strides);
}

// The loops over rows of logits and over the alternatives of one.
template <std::size_t K>
struct logit_nests {
  kernels::loop_nest<K> outside;
  kernels::loop_nest<K> inside;
};
// The loops of a loss over logits, which are the child `Logits` of its node: over its rows, and over the alternatives
// of one.
template <class N, class V, std::size_t Logits>
struct logit_loops {
  using alternatives = axes_of_list_t<list<V>>;
  using rows = difference_t<axes_for<shape_of<element_t<Logits, children_t<N>>>>, alternatives>;

  template <class Lowered>
  static logit_nests<loss_pointers<N>> of(const N& n, const axis* to, const Lowered& x) {
    return {loss_loops<N, rows>(extents_of_logits(n), to, x, all),
            loss_loops<N, alternatives>(extents_of_logits(n), to, x, all)};
  }

 private:
  static constexpr std::make_index_sequence<children_t<N>::size> all{};
  static const auto& extents_of_logits(const N& n) { return n.template child<Logits>().extents(); }
};

// f(offsets) for every element of the nest.
template <std::size_t K, class F>
void each_of(const kernels::loop_nest<K>& nest, const F& f) {
  kernels::for_each_row(nest, [&](const std::ptrdiff_t(&o)[K], std::size_t count, const std::ptrdiff_t(&s)[K]) {
    std::ptrdiff_t at[K];
    for (std::size_t k = 0; k < K; ++k) { at[k] = o[k]; }
    for (std::size_t i = 0; i < count; ++i) {
      f(at);
      for (std::size_t k = 0; k < K; ++k) { at[k] += s[k]; }
    }
  });
}

// Targets are the numbers of ids, or probabilities.
template <class Target>
inline constexpr bool is_id_number = std::is_same_v<Target, std::size_t>;

// The operands of a loss besides g; the name of the alternatives is for errors.
template <class C, class Target>
struct loss_operands {
  const C* logits;
  const Target* targets;
  const C* weights;
  bool has_weights;  // else all are the same number
  const bool* counted;
  double smoothing;
  bool divergence;
  name_of alternatives;
};
template <class V>
const std::size_t* targets_of(const id<V>* ids) {
  return ids == nullptr ? nullptr : numbers_of(ids);  // null: a plan
}
template <real_element C>
const C* targets_of(const C* probabilities) {
  return probabilities;
}
// From the children of a loss, of which the logits are number `First`.
template <std::size_t First, class V, class N, class Lowered>
auto loss_operands_of(const N&, const Lowered& x, double smoothing, bool divergence) {
  using C = std::remove_cvref_t<decltype(*child_in<First>(x).data)>;
  const auto* const targets = targets_of(child_in<First + 1>(x).data);
  using weights = element_t<First + 2, children_t<N>>;
  return loss_operands<C, std::remove_cvref_t<decltype(*targets)>>{child_in<First>(x).data,
                                                                   targets,
                                                                   child_in<First + 2>(x).data,
                                                                   !is_constant<weights>,
                                                                   child_in<First + 3>(x).data,
                                                                   smoothing,
                                                                   divergence,
                                                                   &dimension_name<V>};
}

// The parts of a row of logits that the loss and its gradient share: q of each alternative, the largest logit, and the
// sum of the exponentials.
template <class C, std::size_t K, std::size_t First, class Target>
class logit_row {
 public:
  logit_row(const kernels::loop_nest<K>& inside, const C* x, const Target* target, const C* weight, double smoothing,
            name_of alternatives)
      : inside_(inside),
        x_(x),
        target_(target),
        weight_(weight),
        count_(inside.size()),
        kept_(static_cast<C>(1 - smoothing)),
        shared_(static_cast<C>(smoothing / static_cast<double>(count_))) {
    if constexpr (is_id_number<Target>) { id_ = checked_id("cross_entropy", *target, count_, alternatives); }
    each_of(inside_, [&](const auto& at) {
      const C here = x_[at[First]];
      if (here > largest_ || here != here) { largest_ = here; }
    });
    if (largest_ == kernels::minus_infinity<C>) { return; }
    kernels::carried_sum<C> sum;
    each_of(inside_, [&](const auto& at) { sum += math::exp(x_[at[First]] - largest_); });
    sum_ = sum.value();
  }

  [[nodiscard]] C loss(bool divergence) const {
    const C log_sum = math::log(sum_);
    kernels::carried_sum<C> total;
    each([&](const auto& at, C q) {
      if (q == C(0)) { return; }
      total += q * ((largest_ - x_[at[First]]) + log_sum);
      if (divergence) { total += q * math::log(q); }
    });
    return total.value();
  }
  // to(offsets, g (Σ q · softmax(x) − q))
  template <class To>
  void gradient(C g, const To& to) const {
    kernels::carried_sum<C> all;
    each([&](const auto&, C q) { all += q; });
    if (all.value() == C(0)) { g = 0; }  // a target of weight 0 leaves its row out, whatever the logits are
    const C scale = all.value() / sum_;
    each([&](const auto& at, C q) {
      const C share = q - scale * math::exp(x_[at[First]] - largest_);
      to(at, g == C(0) || share == C(0) ? C(0) : -g * share);
    });
  }

 private:
  template <class F>
  void each(const F& f) const {
    std::ptrdiff_t place = 0;
    each_of(inside_, [&](const auto& at) {
      C q = shared_;
      if constexpr (is_id_number<Target>) {
        if (place == id_) { q += kept_; }
      } else {
        q += kept_ * target_[at[First + 1]];
      }
      f(at, q * weight_[at[First + 2]]);
      ++place;
    });
  }

  const kernels::loop_nest<K>& inside_;
  const C* x_;
  const Target* target_;
  const C* weight_;
  std::size_t count_;
  C kept_;
  C shared_;
  std::ptrdiff_t id_ = 0;
  C largest_ = kernels::minus_infinity<C>;
  C sum_ = 0;
};

// The loss of each row.
template <class C, class Target>
void cross_entropy_by_loops(const logit_nests<5>& nests, C* to, const loss_operands<C, Target>& x) {
  each_of(nests.outside, [&](const auto& o) {
    to[o[0]] = C(0);
    if (!x.counted[o[4]]) { return; }
    const logit_row<C, 5, 1, Target> row(nests.inside, x.logits + o[1], x.targets + o[2], x.weights + o[3], x.smoothing,
                                         x.alternatives);
    to[o[0]] = row.loss(x.divergence);
  });
}
// The gradient of the logits, from that of each row's loss.
template <class C, class Target>
void cross_entropy_back_by_loops(const logit_nests<6>& nests, C* to, const C* factors,
                                 const loss_operands<C, Target>& x) {
  each_of(nests.outside, [&](const auto& o) {
    const C g = factors[o[1]];
    if (g == C(0) || !x.counted[o[5]]) {
      each_of(nests.inside, [&](const auto& at) { to[o[0] + at[0]] = C(0); });
      return;
    }
    const logit_row<C, 6, 2, Target> row(nests.inside, x.logits + o[2], x.targets + o[3], x.weights + o[4], x.smoothing,
                                         x.alternatives);
    row.gradient(g, [&](const auto& at, C value) { to[o[0] + at[0]] = value; });
  });
}

template <class C, class Rest, class U, class V, class X, class Y, class W, class S, class T, class Lowered>
void loops(const cross_entropy_node<Rest, U, V, X, Y, W, S>& n, target<T> to, const Lowered& x) {
  using N = cross_entropy_node<Rest, U, V, X, Y, W, S>;
  cross_entropy_by_loops(logit_loops<N, V, 0>::of(n, to.axes, x), to.data,
                         loss_operands_of<0, V>(n, x, n.op().smoothing, n.op().divergence));
}
template <class C, class Shape, class U, class V, class G, class X, class Y, class W, class S, class T, class Lowered>
void loops(const node<cross_entropy_back<V>, Shape, U, G, X, Y, W, S>& n, target<T> to, const Lowered& x) {
  using N = node<cross_entropy_back<V>, Shape, U, G, X, Y, W, S>;
  cross_entropy_back_by_loops(logit_loops<N, V, 1>::of(n, to.axes, x), to.data, child_in<0>(x).data,
                              loss_operands_of<1, V>(n, x, n.op().smoothing, false));
}

}  // namespace dimwise::detail

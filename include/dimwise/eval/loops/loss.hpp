// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/loops/loss.hpp -- the reference loops of cross-entropy and of its gradient.
//
// Layer: eval. A row is read three times at most: its largest element, its sum of exponentials, its terms.
// Tests: tests/grad/training/loss.test.cpp
#pragma once

#include <dimwise/eval/loops/ids.hpp>
#include <dimwise/kernels/rows/carried_sum.hpp>
#include <dimwise/support/math.hpp>

namespace dimwise::detail {

// The pointers of a loss: its operands, the loss of a row or the gradient of that, and the gradient of the logits.
namespace loss_pointer {
enum : std::size_t { logits, targets, weights, counted, row, gradient, count };
}  // namespace loss_pointer

// Over the rows of logits, and over the alternatives of one.
struct loss_loops {
  using nest = kernels::loop_nest<loss_pointer::count>;
  nest rows;
  nest alternatives;
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

template <class C>
struct loss_operands {
  const C* logits;
  const std::size_t* ids;  // null: targets are `probabilities`
  const C* probabilities;  // null where there are no alternatives
  const C* weights;
  const bool* counted;  // null: everywhere
  double smoothing;
  bool divergence;
  name_of alternatives;  // for errors
};

// The parts of a row of logits that the loss and its gradient share: q of each alternative, the largest logit, and the
// sum of the exponentials.
template <class C>
class logit_row {
 public:
  // `o` are the places where the row begins.
  logit_row(const loss_loops::nest& inside, const loss_operands<C>& x, const std::ptrdiff_t* o)
      : inside_(inside),
        x_(x.logits + o[loss_pointer::logits]),
        target_(x.ids != nullptr ? nullptr : x.probabilities + o[loss_pointer::targets]),
        by_id_(x.ids != nullptr),
        weight_(x.weights + o[loss_pointer::weights]),
        kept_(static_cast<C>(1 - x.smoothing)),
        shared_(static_cast<C>(x.smoothing / static_cast<double>(inside.size()))) {
    if (by_id_) { id_ = checked_id("cross_entropy", x.ids[o[loss_pointer::targets]], inside.size(), x.alternatives); }
    each_of(inside_, [&](const auto& at) {
      const C here = x_[at[loss_pointer::logits]];
      if (here > largest_ || here != here) { largest_ = here; }
    });
    if (largest_ == kernels::minus_infinity<C>) { return; }
    kernels::carried_sum<C> sum;
    each_of(inside_, [&](const auto& at) { sum += math::exp(x_[at[loss_pointer::logits]] - largest_); });
    sum_ = sum.value();
  }

  [[nodiscard]] C loss(bool divergence) const {
    const C log_sum = math::log(sum_);
    kernels::carried_sum<C> total;
    each([&](const auto& at, C q) {
      if (q == C(0)) { return; }
      total += q * ((largest_ - x_[at[loss_pointer::logits]]) + log_sum);
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
      const C share = q - scale * math::exp(x_[at[loss_pointer::logits]] - largest_);
      to(at, g == C(0) || share == C(0) ? C(0) : -g * share);
    });
  }

 private:
  template <class F>
  void each(const F& f) const {
    std::ptrdiff_t place = 0;
    each_of(inside_, [&](const auto& at) {
      C q = shared_;
      if (!by_id_) {
        q += kept_ * target_[at[loss_pointer::targets]];
      } else if (place == id_) {
        q += kept_;
      }
      f(at, q * weight_[at[loss_pointer::weights]]);
      ++place;
    });
  }

  const loss_loops::nest& inside_;
  const C* x_;
  const C* target_;
  bool by_id_;
  const C* weight_;
  C kept_;
  C shared_;
  std::ptrdiff_t id_ = 0;
  C largest_ = kernels::minus_infinity<C>;
  C sum_ = 0;
};

// The loss of each row.
template <class C>
void cross_entropy_by_loops(const loss_loops& loops, C* to, const loss_operands<C>& x) {
  each_of(loops.rows, [&](const auto& o) {
    const bool counted = x.counted == nullptr || x.counted[o[loss_pointer::counted]];
    to[o[loss_pointer::row]] = counted ? logit_row<C>(loops.alternatives, x, o).loss(x.divergence) : C(0);
  });
}
// The gradient of the logits, from that of each row's loss.
template <class C>
void cross_entropy_back_by_loops(const loss_loops& loops, C* to, const C* factors, const loss_operands<C>& x) {
  each_of(loops.rows, [&](const auto& o) {
    C* const row = to + o[loss_pointer::gradient];
    const C g = factors[o[loss_pointer::row]];
    if (g == C(0) || (x.counted != nullptr && !x.counted[o[loss_pointer::counted]])) {
      each_of(loops.alternatives, [&](const auto& at) { row[at[loss_pointer::gradient]] = C(0); });
      return;
    }
    logit_row<C>(loops.alternatives, x, o).gradient(g, [&](const auto& at, C value) {
      row[at[loss_pointer::gradient]] = value;
    });
  });
}

}  // namespace dimwise::detail

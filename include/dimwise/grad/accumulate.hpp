// SPDX-License-Identifier: BSL-1.0
// dimwise/grad/accumulate.hpp -- the gradient of a mean over several batches, one batch after the other.
//
// Layer: grad. Sums and counts are added, so a batch weighs by what it counts: the mean of the batches' means would be
// another number.
// Tests: tests/grad/training/optimiser.test.cpp, tests/compile_fail/grad/
//
//   accumulated total(model);
//   for (const auto& part : parts) { total.add([&](const auto& m) { return next_word_loss<seq>(m(part), part); }); }
//   auto [loss, gradient] = total.mean();
#pragma once

#include <dimwise/eval/parameter_steps.hpp>
#include <dimwise/grad/gradient.hpp>
#include <dimwise/grad/optimiser.hpp>

namespace dimwise {

namespace detail {

// Whether a loss that gives `Given` is that of a batch: an average (R22) with a gradient by the model (R21).
template <class M, class Loss, class Verdict, class Given>
consteval auto judge_batch() {
  using loss = std::remove_cvref_t<Given>;
  if constexpr (allowed<Verdict> && (operand<loss> || std::is_arithmetic_v<loss>)) {
    return answer<ERROR_R22_batches_are_added_as_averages<over<loss>>>{};
  } else {
    return judge_loss<M, Loss, Verdict, Given>();
  }
}

}  // namespace detail

/// Sums of the losses and gradients of a model over batches.
template <class M>
class accumulated {
 public:
  /// Of no batch yet; the gradient has the extents of the model.
  explicit accumulated(const M& model) : model_(model), gradient_(model) {}

  // Declared first: clang shows the first one on the way to an error in the loss.
  template <class Loss,
            class Given = typename decltype(detail::given_by(std::declval<const Loss&>(),
                                                             detail::model_of_loss<M>))::type,
            class Verdict = typename decltype(detail::judge_batch<M, Loss, detail::model_verdict<M>, Given>())::type>
    requires detail::refused_here<Verdict>
  Verdict add(const Loss& loss) DIMWISE_DETAIL_REFUSES_LAMBDAS;

  /// Adds a batch, whose loss is an `average`. What it throws leaves the sums as they were; only what an executor
  /// throws while the gradients are added is thrown after the batch counts: `count` tells.
  template <class Loss,
            class Given = typename decltype(detail::given_by(std::declval<const Loss&>(),
                                                             detail::model_of_loss<M>))::type,
            class Verdict = typename decltype(detail::judge_batch<M, Loss, detail::model_verdict<M>, Given>())::type>
    requires allowed<Verdict>
  void add(const Loss& loss) {
    double count = 0;
    auto one = detail::differentiated(model_, loss, [&](const auto& l) {
      count = l.count;
      return detail::weighed_number<decltype(l.sum)>{l.sum, 1.0};
    });
    const auto counted = [&] {
      begun_ = true;
      sum_ += static_cast<double>(one.value);
      count_ += count;
    };
    if (!begun_) {
      gradient_ = static_cast<M&&>(one.gradient);
      counted();
      return;
    }
    const detail::parameter_list all(gradient_);
    const detail::parameter_list added(one.gradient);
    detail::whole_passes passes = detail::prepared_step(added, {&all});
    detail::add_parameters(passes, all, added);
    counted();
    passes.finish();
  }
  template <class Loss,
            class Given = typename decltype(detail::given_by(std::declval<const Loss&>(),
                                                             detail::model_of_loss<M>))::type,
            class Verdict = typename decltype(detail::judge_batch<M, Loss, detail::model_verdict<M>, Given>())::type>
    requires detail::refused_before<Verdict>
  void add(const Loss&) {
    detail::raise<gradient_error>(error() << "accumulated::add: the loss cannot be called with the model (R21)");
  }

  /// How much was counted.
  [[nodiscard]] double count() const { return count_; }

  /// The mean over all that was counted, and its gradient; both are 0 where nothing was.
  [[nodiscard]] value_with_gradient<detail::model_element<M>, M> mean() const {
    using T = detail::model_element<M>;
    const double factor = count_ == 0 ? 0.0 : 1.0 / count_;
    value_with_gradient<T, M> result{static_cast<T>(sum_ * factor), gradient_};
    const detail::parameter_list all(result.gradient);
    begun_ ? detail::multiply_parameters(all, factor) : detail::clear_parameters(all);
    return result;
  }

 private:
  M model_;
  M gradient_;
  double sum_ = 0;
  double count_ = 0;
  bool begun_ = false;
};

}  // namespace dimwise

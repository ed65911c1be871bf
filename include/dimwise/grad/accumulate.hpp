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

namespace op {
struct accumulated;
}  // namespace op

namespace detail {

// The verdict on the loss of a batch, whose terms are added to those of the mesh axes `Along`.
template <class Verdict, class Along>
struct of_batch {
  using type = Verdict;
};
template <class Shape, class Along>
  requires(!same_set<partials_t<Shape>, Along>)
struct of_batch<accepted<Shape>, Along> {
  using type = ERROR_R23_gradient_is_reduced_first<op::accumulated, over_t<partials_t<Shape>>>;
};
template <class Shape, class First, class... M>
  requires(!same_set<partials_t<Shape>, list<First, M...>>)
struct of_batch<accepted<Shape>, list<First, M...>> {
  using type = ERROR_R23_operand_is_no_partial_sum<op::accumulated, over<First, M...>>;
};

// Whether a loss that gives `Given` is that of a batch: an average (R22) with a gradient by the model (R21), over
// shards along the same mesh axes as all others (R23).
template <class M, class Loss, class Verdict, class Given, class Along = list<>>
consteval auto judge_batch() {
  using loss = std::remove_cvref_t<Given>;
  if constexpr (allowed<Verdict> && (operand<loss> || std::is_arithmetic_v<loss>)) {
    return answer<ERROR_R22_batches_are_added_as_averages<over<loss>>>{};
  } else {
    return answer<typename of_batch<typename decltype(judge_loss<M, Loss, Verdict, Given>())::type, Along>::type>{};
  }
}

template <class Batches>
class stage_steps;
template <class Total>
class last_batch;

}  // namespace detail

/// Sums of the losses and gradients of a model over batches. With mesh axes, `accumulated<Model, dp>`, the batches are
/// this rank's, and `terms` gives what `all_reduce<dp>` adds: one reduction for all batches.
template <class M, class... Along>
class accumulated {
 public:
  /// Of no batch yet; the gradient has the extents of the model.
  explicit accumulated(const M& model) : model_(model), gradient_(model) {}

  // Declared first: clang shows the first one on the way to an error in the loss.
  template <class Loss,
            class Given = typename decltype(detail::given_by(std::declval<const Loss&>(),
                                                             detail::model_of_loss<M>))::type,
            class Verdict = typename decltype(detail::judge_batch<M, Loss, detail::model_verdict<M>, Given,
                                                                  detail::list<Along...>>())::type>
    requires detail::refused_here<Verdict>
  Verdict add(const Loss& loss) DIMWISE_DETAIL_REFUSES_LAMBDAS;

  /// Adds a batch, whose loss is an `average`. What it throws leaves the sums as they were; only what an executor
  /// throws while the gradients are added is thrown after the batch counts: `count` tells.
  template <class Loss,
            class Given = typename decltype(detail::given_by(std::declval<const Loss&>(),
                                                             detail::model_of_loss<M>))::type,
            class Verdict = typename decltype(detail::judge_batch<M, Loss, detail::model_verdict<M>, Given,
                                                                  detail::list<Along...>>())::type>
    requires allowed<Verdict>
  void add(const Loss& loss) {
    double count = 0;
    auto one = detail::differentiated(model_, loss, [&](const auto& l) {
      count = l.count;
      return detail::weighed_number<decltype(l.sum)>{l.sum, 1.0};
    });
    add_one(static_cast<decltype(one)&&>(one), count);
  }
  template <class Loss,
            class Given = typename decltype(detail::given_by(std::declval<const Loss&>(),
                                                             detail::model_of_loss<M>))::type,
            class Verdict = typename decltype(detail::judge_batch<M, Loss, detail::model_verdict<M>, Given,
                                                                  detail::list<Along...>>())::type>
    requires detail::refused_before<Verdict>
  void add(const Loss&) {
    detail::raise<gradient_error>(error() << "accumulated::add: the loss cannot be called with the model (R21)");
  }

  /// How much was counted.
  [[nodiscard]] double count() const { return count_; }

  /// The mean over all that was counted, and its gradient; both are 0 where nothing was.
  [[nodiscard]] value_with_gradient<detail::model_element<M>, M> mean() const
    requires(sizeof...(Along) == 0)
  {
    using T = detail::model_element<M>;
    const double factor = count_ == 0 ? 0.0 : 1.0 / count_;
    value_with_gradient<T, M> result{static_cast<T>(sum_ * factor), gradient_};
    const detail::parameter_list all(result.gradient);
    begun_ ? detail::multiply_parameters(all, factor) : detail::clear_parameters(all);
    return result;
  }
  template <class Error = ERROR_R23_gradient_is_reduced_first<op::mean, over<Along...>>>
    requires(sizeof...(Along) > 0)
  Error mean() const;

  /// This rank's sums of the losses and of their gradients, which are 0 where nothing was counted:
  /// `all_reduce<M>(total.terms(), mesh)` is the mean over the batches of all ranks, and its gradient.
  [[nodiscard]] auto terms() const
    requires(sizeof...(Along) > 0)
  {
    using T = detail::model_element<M>;
    using term = detail::term_of_loss<T, term_shape, void>;
    value_with_gradient<typename term::type, partial_gradient<M, Along...>> result{term::of(static_cast<T>(sum_), {}),
                                                                                   {gradient_, count_, true}};
    if (!begun_) { detail::clear_parameters(detail::parameter_list(result.gradient.terms)); }
    return result;
  }

 private:
  template <class Batches>
  friend class detail::stage_steps;  // ranks/training/stages.hpp
  template <class Total>
  friend class detail::last_batch;  // ranks/training/gradients.hpp

  void add_one(value_with_gradient<detail::model_element<M>, M>&& one, double count) {
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

  using term_shape = detail::make_shape_t<detail::list<>, detail::list<partial<Along>...>>;

  M model_;
  M gradient_;
  double sum_ = 0;
  double count_ = 0;
  bool begun_ = false;
};
template <class M>
accumulated(const M&) -> accumulated<M>;

}  // namespace dimwise

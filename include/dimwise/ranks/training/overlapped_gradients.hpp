// SPDX-License-Identifier: BSL-1.0
// dimwise/ranks/training/overlapped_gradients.hpp -- gradients that are added while the backward pass goes on.
//
// Layer: ranks.
// Tests: tests/ranks/training/training.test.cpp, tests/ranks/mpi/, tests/compile_fail/ranks/
//
//   auto [loss, gradient] = value_and_gradient(model, …, reduced<dp>(mesh));
//   auto [loss, gradient] = value_and_gradient(total, …, reduced<dp>(mesh));      // the last of several batches
#pragma once

#include <dimwise/grad/accumulate.hpp>
#include <dimwise/grad/gradient.hpp>
#include <dimwise/ranks/training/gradients.hpp>

namespace dimwise {

namespace detail {

// The verdict on a loss whose terms are added along M.
template <class Verdict, class M>
struct of_reduced_loss {
  using type = Verdict;
};
template <class Shape, class M>
  requires(!std::is_same_v<partials_t<Shape>, list<M>>)
struct of_reduced_loss<accepted<Shape>, M> {
  using type = ERROR_R23_operand_is_no_partial_sum<op::all_reduce, over<M>, operand_t<Shape>>;
};
template <class Verdict, class M>
using of_reduced_loss_t = typename of_reduced_loss<Verdict, M>::type;

// The mean over the ranks, from this rank's sum of the losses, their count and the sum of their gradients over the
// ranks.
template <class Model>
value_with_gradient<model_element<Model>, Model> mean_over_ranks(double sum, double count, Model&& gradient,
                                                                 const ranks::communicator& along) {
  using T = model_element<Model>;
  sum = reduced_number(static_cast<T>(sum), true, along);
  reduce_numbers(&count, 1, along, "count of the loss");
  const double factor = count == 0 ? 0.0 : 1.0 / count;
  multiply_parameters(parameter_list(gradient), factor);
  return {static_cast<T>(sum * factor), static_cast<Model&&>(gradient)};
}

// The verdict on the last batch of sums along the mesh axes Over, which are added along Along.
template <class Model, class Over, class Along, class Loss, class Given>
consteval auto judge_last_batch() {
  if constexpr (!std::is_same_v<Over, list<Along>>) {
    return answer<ERROR_R23_operand_is_no_partial_sum<op::all_reduce, over<Along>>>{};
  } else {
    return judge_batch<Model, Loss, model_verdict<Model>, Given, Over>();
  }
}
template <class Model, class Over, class Along, class Loss, class Given>
using last_batch_verdict = typename decltype(judge_last_batch<Model, Over, Along, Loss, Given>())::type;

template <class Model, class Along>
class last_batch<accumulated<Model, Along>> {
 public:
  template <class Loss>
  static auto reduced(accumulated<Model, Along> total, const Loss& loss, const ranks::communicator& along) {
    double count = 0;
    auto one = differentiated(total.model_, loss, [&](const auto& l) {
      count = l.count;
      return weighed_number<decltype(l.sum)>{l.sum, 1.0};
    }, [&](gradient_record& record, const parameter_list& to, const parameter_origins& origins) {
      constexpr long owners = 2;  // the tracked model and `origins`
      const parameter_list all(total.gradient_);
      started_reduction sums(total.begun_ ? all : to, to, origins, owners, along, &axis_id<Along>);
      record.send_all([&] { sums.advance(); });
      buckets_started_early() = sums.started_early();
      sums.finish();
    });
    return mean_over_ranks(total.sum_ + static_cast<double>(one.value), total.count_ + count,
                           static_cast<Model&&>(total.begun_ ? total.gradient_ : one.gradient), along);
  }
};

}  // namespace detail

namespace no_adl {

template <class M, class Loss, class Along,
          class Given = typename decltype(detail::given_by(std::declval<const Loss&>(),
                                                           detail::model_of_loss<M>))::type,
          class Verdict = detail::of_reduced_loss_t<
              typename decltype(detail::judge_loss<M, Loss, detail::model_verdict<M>, Given>())::type, Along>>
  requires detail::refused_here<Verdict>
Verdict value_and_gradient(const M& model, const Loss& loss,
                           const gradient_reduction<Along>& how) DIMWISE_DETAIL_REFUSES_LAMBDAS;

/// The loss over all ranks and its gradient, a number and a model: the reduction of `how` overlaps the backward pass.
/// All ranks call it. Rejects a loss that is not a partial sum along this axis alone (R23).
template <class M, class Loss, class Along,
          class Given = typename decltype(detail::given_by(std::declval<const Loss&>(),
                                                           detail::model_of_loss<M>))::type,
          class Verdict = detail::of_reduced_loss_t<
              typename decltype(detail::judge_loss<M, Loss, detail::model_verdict<M>, Given>())::type, Along>>
  requires allowed<Verdict>
[[nodiscard]] auto value_and_gradient(const M& model, const Loss& loss, const gradient_reduction<Along>& how) {
  using T = detail::model_element<M>;
  constexpr bool is_average = detail::is_partial_average<std::remove_cvref_t<Given>>;
  return ranks::detail::taking_part(how.along, "value_and_gradient", [&] {
    double count = 0;
    auto one = detail::differentiated(model, loss,
                                      [&](const auto& l) {
      if constexpr (is_average) { count = l.count; }
      return detail::loss_as_number(l);
    },
                                      [&](detail::gradient_record& record, const detail::parameter_list& to,
                                          const detail::parameter_origins& origins) {
      constexpr long owners = 2;  // the tracked model and `origins`
      detail::started_reduction sums(to, to, origins, owners, how.along, &detail::axis_id<Along>);
      record.send_all([&] { sums.advance(); });
      detail::buckets_started_early() = sums.started_early();
      sums.finish();
    });
    const double sum = detail::reduced_number(one.value, is_average, how.along);
    double factor = 1;
    if constexpr (is_average) {
      detail::reduce_numbers(&count, 1, how.along, "count of the loss");
      factor = count == 0 ? 0.0 : 1.0 / count;
      detail::multiply_parameters(detail::parameter_list(one.gradient), factor);
    }
    one.value = static_cast<T>(sum * factor);
    return one;
  });
}
template <class M, class Loss, class Along,
          class Given = typename decltype(detail::given_by(std::declval<const Loss&>(),
                                                           detail::model_of_loss<M>))::type,
          class Verdict = typename decltype(detail::judge_loss<M, Loss, detail::model_verdict<M>, Given>())::type>
  requires detail::refused_before<Verdict>
value_with_gradient<detail::number_of_loss<M>, M> value_and_gradient(const M&, const Loss&,
                                                                     const gradient_reduction<Along>&) {
  detail::raise<gradient_error>(error() << "value_and_gradient: the loss cannot be called with the model (R21)");
}

template <class Model, class... Over, class Loss, class Along,
          class Given = typename decltype(detail::given_by(std::declval<const Loss&>(),
                                                           detail::model_of_loss<Model>))::type,
          class Verdict = detail::last_batch_verdict<Model, detail::list<Over...>, Along, Loss, Given>>
  requires detail::refused_here<Verdict>
Verdict value_and_gradient(const accumulated<Model, Over...>& total, const Loss& loss,
                           const gradient_reduction<Along>& how) DIMWISE_DETAIL_REFUSES_LAMBDAS;

/// The mean over the batches of `total` and over a last one, of all ranks, and its gradient: those of `all_reduce<M>`
/// of `terms()` after `add`, with the same bits. The terms are added during the backward pass of the last batch;
/// `total` does not change. All ranks call it. Rejects sums along other axes (R23).
template <class Model, class... Over, class Loss, class Along,
          class Given = typename decltype(detail::given_by(std::declval<const Loss&>(),
                                                           detail::model_of_loss<Model>))::type,
          class Verdict = detail::last_batch_verdict<Model, detail::list<Over...>, Along, Loss, Given>>
  requires allowed<Verdict>
[[nodiscard]] auto value_and_gradient(const accumulated<Model, Over...>& total, const Loss& loss,
                                      const gradient_reduction<Along>& how) {
  return ranks::detail::taking_part(how.along, "value_and_gradient", [&] {
    return detail::last_batch<accumulated<Model, Over...>>::reduced(total, loss, how.along);
  });
}
template <class Model, class... Over, class Loss, class Along,
          class Given = typename decltype(detail::given_by(std::declval<const Loss&>(),
                                                           detail::model_of_loss<Model>))::type,
          class Verdict = detail::last_batch_verdict<Model, detail::list<Over...>, Along, Loss, Given>>
  requires detail::refused_before<Verdict>
value_with_gradient<detail::number_of_loss<Model>, Model> value_and_gradient(const accumulated<Model, Over...>&,
                                                                             const Loss&,
                                                                             const gradient_reduction<Along>&) {
  detail::raise<gradient_error>(error() << "value_and_gradient: the loss cannot be called with the model (R21)");
}

}  // namespace no_adl

}  // namespace dimwise

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/ranks/training/gradients_definitions.hpp>
#endif

// SPDX-License-Identifier: BSL-1.0
// dimwise/ranks/training/stages.hpp -- gradients of a model whose layers are divided over ranks: stages of a pipeline.
//
// Layer: ranks. Micro-batches go from stage to stage, and their gradients back (Huang et al. 2019). A stage begins with
// the backward pass of a micro-batch as soon as it can, so it keeps the values of as many micro-batches as there are
// stages from it to the last one (one forward, one backward: Narayanan et al. 2021). Gradients are added in the order
// of the micro-batches: P stages have the bits of one rank.
// Tests: tests/ranks/training/stages.test.cpp, tests/ranks/mpi/, tests/compile_fail/stages/
//
//   struct pp : mesh_axis<> {};
//   using features = tensor<float, batch, seq, d_model>;              // what a stage passes to the next one
//   const auto batches = micro_batches<features>(count, first, layers, loss);
//   const auto [value, gradient] = value_and_gradient(stage, batches, mesh);
//   optimiser.step(stage, clip_norm(gradient, 1.0, mesh));            // the norm over all stages
//   … = value_and_gradient(stage, batches, mesh, reduced<dp>(mesh));  // and over the ranks along dp
#pragma once

#include <dimwise/grad/accumulate.hpp>
#include <dimwise/nn/parameters/stage.hpp>
#include <dimwise/ranks/collectives.hpp>
#include <dimwise/ranks/training/stage_messages.hpp>
#include <dimwise/ranks/training/stage_verdicts.hpp>
#include <dimwise/ranks/training/tied_parameters.hpp>

#include <cstddef>
#include <deque>
#include <memory>
#include <type_traits>
#include <utility>

namespace dimwise {

namespace no_adl {

/// The micro-batches of a step over the stages of a pipeline. Passed is the type of the tensor that a stage passes to
/// the next one, such as `tensor<float, batch, seq, d_model>`; the run-time extents of micro-batches may differ.
///
///   first(m, i)      on the first stage: micro-batch i  ->  Passed, such as the embedded tokens
///   layers(m, x, i)  on every stage: Passed -> Passed, by the layers of the stage
///   loss(m, x, i)    on the last stage: Passed  ->  the average of a loss
///
/// Each function takes the stage's model with tracked elements.
template <class Passed, class First, class Layers, class Loss>
  requires operand<Passed>
[[nodiscard]] pipelined_batches<Passed, First, Layers, Loss> micro_batches(std::size_t count, First first,
                                                                           Layers layers, Loss loss) {
  return {count, static_cast<First&&>(first), static_cast<Layers&&>(layers), static_cast<Loss&&>(loss)};
}

}  // namespace no_adl

namespace detail {

// ---- the steps of one stage -----------------------------------------------------------------------------------------

// One turn of a stage with a micro-batch. The backward pass of a micro-batch is after its forward pass, and both are in
// the order of the micro-batches.
class micro_batch_steps {
 public:
  micro_batch_steps() = default;
  micro_batch_steps(const micro_batch_steps&) = delete;
  micro_batch_steps& operator=(const micro_batch_steps&) = delete;
  virtual ~micro_batch_steps() = default;
  virtual void forward(std::size_t batch) = 0;
  virtual void backward(std::size_t batch) = 0;
};
// One forward, one backward: a stage goes ahead by as many micro-batches as there are stages after it. Throws
// `extent_error` on all stages if they have other numbers of micro-batches.
DIMWISE_DETAIL_LIBRARY void run_schedule(micro_batch_steps& steps, std::size_t batches,
                                         const ranks::communicator& stages);

// The sum over micro-batches that each stage computes for itself.
template <class Model, class Along>
struct accumulated_along;
template <class Model, class... M>
struct accumulated_along<Model, list<M...>> {
  using type = accumulated<Model, M...>;
};

template <class Model, class Passed, class First, class Layers, class Loss>
struct stage_types {
  using model = Model;
  using passed = Passed;
  using batches = pipelined_batches<Passed, First, Layers, Loss>;
  using loss = std::remove_cvref_t<later_given<Model, Passed, Loss>>;
};

// The ranks whose terms are added during the backward pass of the last micro-batch; null for none.
struct stage_reduction {
  const ranks::communicator* along = nullptr;
  axis_key axis = nullptr;
};

template <class Types>
class stage_steps final : public micro_batch_steps {
  using model_type = typename Types::model;
  using T = model_element<model_type>;
  using passed = tracked_passed<model_type, typename Types::passed>;
  using plain = typename passed::plain_type;
  using gradient_type = typename gradient_of_stored<passed>::type;
  using loss_type = typename Types::loss;
  using number = std::remove_cvref_t<decltype(std::declval<const loss_type&>().sum)>;
  using stored_number = tensor_of<tracked<T>, stored_t<shape_of<number>>>;
  static constexpr const axes_of_mesh* axes_of_loss = axes_of_shape<shape_of<stored_number>>();

  // A micro-batch between its forward and its backward pass.
  struct in_flight {
    gradient_record record{};
    parameter_origins origins{};
    origin_pointer input{};   // of what the previous stage has sent
    origin_pointer output{};  // of what goes to the next stage, or of the loss; null if it is a constant
    typename passed::extents_type extents_of_input{};
    typename passed::extents_type extents_of_output{};
    T value{};
    double count = 0;
  };

 public:
  stage_steps(const model_type& model, const typename Types::batches& batches, ranks::communicator stages,
              stage_reduction reduction = {})
      : model_(model), batches_(batches), stages_(std::move(stages)), reduction_(reduction), total_(model) {}
  stage_steps(const stage_steps&) = delete;
  stage_steps& operator=(const stage_steps&) = delete;
  ~stage_steps() override = default;

  /// The mean over the micro-batches and its gradient, or this rank's terms along the mesh axes of the loss.
  auto run() {
    run_micro_batches();
    if (tied_ != nullptr) { tied_->share(parameter_list(total_.gradient_)); }
    if constexpr (axes_of_loss == nullptr) {
      return total_.mean();
    } else {
      return total_.terms();
    }
  }
  /// The mean over the micro-batches of all ranks of the reduction, and its gradient.
  value_with_gradient<T, model_type> run_reduced() {
    run_micro_batches();
    if (batches_.count == 0) {  // the other ranks may have some: zeros
      in_flight none;
      (void)tracked_model(model_, none.record.number(), none.origins);
      none.record.close();
      take_reduced(none, [](const parameter_list& /*to*/, const auto& /*after*/) {});
    }
    auto result =
        mean_over_ranks(total_.sum_, total_.count_, static_cast<model_type&&>(total_.gradient_), *reduction_.along);
    if (tied_ != nullptr) { tied_->share(parameter_list(result.gradient)); }
    return result;
  }

  void forward(std::size_t batch) override {
    auto& one = *waiting_.emplace_back(std::make_unique<in_flight>());
    const auto parameters = tracked_model(model_, one.record.number(), one.origins);
    const passed x = input_of(one, parameters, batch);
    const passed y(batches_.layers(parameters, x, batch));
    if (is_last()) {
      const auto loss = batches_.loss(parameters, y, batch);
      const stored_number sum(loss.sum);
      one.output = sum.origin_owner();
      one.value = *sum.value().data();
      one.count = loss.count;
    } else {
      one.output = y.origin_owner();
      one.extents_of_output = y.extents();
      send_to_next(forth_, y.value(), batch, stages_);
    }
    one.record.close();
    forget_arrived(forth_);
  }

  void backward(std::size_t batch) override {
    const std::unique_ptr<in_flight> one = static_cast<std::unique_ptr<in_flight>&&>(waiting_.front());
    waiting_.pop_front();
    const gradient_ranks::partial_loss left(axes_of_loss);
    recorded* const output = one->output.get();
    if (is_last()) {
      if (output != nullptr) { gradient_of_stored<stored_number>::add(value_of_record(*output), tensor<T>(T(1))); }
    } else {
      const auto g = receive_from_next<gradient_type>(one->extents_of_output, batch, stages_);
      if (output != nullptr) { gradient_of_stored<passed>::add(value_of_record(*output), g); }
    }
    one->output = origin_pointer();
    if (tied_ != nullptr && tied_->has_later()) {
      model_type through(model_);
      const gradient_ranks::root from(axes_of_loss);
      tied_->receive(parameter_list(through), one->origins, batch);
    }
    const auto send = [&](const parameter_list& to, const auto& after) {
      one->record.send_all(after);
      if (!is_first()) { send_to_previous(back_, gradient_of_input(*one), batch, stages_); }
      if (tied_ != nullptr && tied_->has_earlier()) { tied_->send(to, one->origins, batch); }
    };
    if (reduction_.along != nullptr && batch + 1 == batches_.count) {
      take_reduced(*one, send);
    } else {
      value_with_gradient<T, model_type> result{one->value, model_};
      const parameter_list to(result.gradient);
      send(to, [] {});
      take_gradients(to, one->origins);
      total_.add_one(static_cast<decltype(result)&&>(result), one->count);
    }
    forget_arrived(back_);
  }

 private:
  static recorded_value<T>& value_of_record(recorded& of) { return static_cast<recorded_value<T>&>(of); }
  [[nodiscard]] bool is_first() const { return stages_.rank() == 0; }
  [[nodiscard]] bool is_last() const { return stages_.rank() + 1 == stages_.size(); }

  void run_micro_batches() {
    if constexpr (names_of_tied<model_type> != nullptr) {
      tied_ = std::make_unique<tied_parameters>(parameter_list(model_), stages_);
    }
    run_schedule(*this, batches_.count, stages_);
    wait_for_all(forth_);
    wait_for_all(back_);
    double numbers[] = {total_.sum_, total_.count_};
    stages_.broadcast(numbers, 2, stages_.size() - 1, "the loss of all micro-batches");
    total_.sum_ = numbers[0];
    total_.count_ = numbers[1];
  }
  // The last micro-batch: its gradients, added to those before it and over the ranks while `send` sends them.
  template <class Send>
  void take_reduced(const in_flight& last, const Send& send) {
    model_type own(model_);
    const parameter_list to(total_.gradient_);
    const parameter_list taken(own);
    constexpr long owners = 1;  // `last.origins`
    const parameter_list& own_terms = total_.begun_ ? taken : to;
    started_reduction sums(to, own_terms, last.origins, owners, *reduction_.along, reduction_.axis,
                           tied_ != nullptr && tied_->has_earlier() ? tied_->among(to) : std::vector<bool>());
    send(own_terms, [&] { sums.advance(); });
    buckets_started_early() = sums.started_early();
    sums.finish();
    total_.sum_ += static_cast<double>(last.value);
    total_.count_ += last.count;
  }

  template <class Parameters>
  passed input_of(in_flight& one, const Parameters& parameters, std::size_t batch) {
    if (is_first()) { return passed(batches_.first(parameters, batch)); }
    const auto x = receive_from_previous<plain>(batch, stages_);
    const passed recorded = recorded_leaf(x, one.record.number());
    one.input = recorded.origin_owner();
    one.extents_of_input = x.extents();
    return recorded;
  }
  // Zeros if the layers do not read it.
  gradient_type gradient_of_input(const in_flight& one) const {
    recorded_value<T>& from = value_of_record(*one.input);
    if (from.arrived()) { return gradient_of_stored<passed>::whole(from, one.extents_of_input); }
    auto zeros = gradient_type::for_overwriting(one.extents_of_input);
    zeros.fill(T(0));
    return zeros;
  }

  const model_type& model_;
  const typename Types::batches& batches_;
  ranks::communicator stages_;
  stage_reduction reduction_;
  typename accumulated_along<model_type, partials_t<shape_of<stored_number>>>::type total_;
  std::unique_ptr<tied_parameters> tied_{};  // null if the model has none
  std::deque<std::unique_ptr<in_flight>> waiting_{};
  std::deque<passed_on<plain>> forth_{};
  std::deque<passed_on<gradient_type>> back_{};
};

}  // namespace detail

namespace no_adl {

template <
    class Model, class Passed, class First, class Layers, class Loss, class... Axes,
    class Verdict = detail::stages_verdict<Model, pipelined_batches<Passed, First, Layers, Loss>, ranks::mesh<Axes...>>>
  requires refused<Verdict>
Verdict value_and_gradient(const Model& model, const pipelined_batches<Passed, First, Layers, Loss>& batches,
                           const ranks::mesh<Axes...>& mesh);

/// The mean of the loss over all micro-batches, on every stage, and the gradient of this stage's parameters: what
/// `accumulated` gives on one rank that has all layers, with the same bits.
///
/// `model` is the module of one stage, which names the mesh axis of the stages: `using stage_along = pp;`. All ranks
/// along this axis call it with the same number of micro-batches, or `extent_error` is thrown. Members that the module
/// names as `tied` are copies of one another on the stages that have them, or `rank_error` is thrown; each stage gets
/// the gradient of all uses. A loss over a shard of another mesh axis gives terms, which `all_reduce<dp>` adds. Norms
/// take the mesh: they count the parameters of all stages (R24).
///
/// Rejects a model that names no axis (R25), a mesh without it (R25), a passed tensor that is divided or partial along
/// it (R23, R24) or packed (R19), functions that give another tensor than the passed one, and a loss that is not an
/// average (R22).
template <
    class Model, class Passed, class First, class Layers, class Loss, class... Axes,
    class Verdict = detail::stages_verdict<Model, pipelined_batches<Passed, First, Layers, Loss>, ranks::mesh<Axes...>>>
  requires allowed<Verdict>
[[nodiscard]] auto value_and_gradient(const Model& model, const pipelined_batches<Passed, First, Layers, Loss>& batches,
                                      const ranks::mesh<Axes...>& mesh) {
  using M = detail::first_t<detail::stage_axis_t<Model>>;
  return ranks::detail::taking_part_in(mesh, "value_and_gradient", [&] {
    return detail::stage_steps<detail::stage_types<Model, Passed, First, Layers, Loss>>(model, batches,
                                                                                        mesh.template along<M>())
        .run();
  });
}

template <class Model, class Passed, class First, class Layers, class Loss, class... Axes, class Along,
          class Verdict = detail::reduced_stages_verdict<Model, pipelined_batches<Passed, First, Layers, Loss>,
                                                         ranks::mesh<Axes...>, Along>>
  requires refused<Verdict>
Verdict value_and_gradient(const Model& model, const pipelined_batches<Passed, First, Layers, Loss>& batches,
                           const ranks::mesh<Axes...>& mesh, const gradient_reduction<Along>& how);

/// The same over all ranks along the axis of `how` as well: a number and a model. The terms are added during the
/// backward pass of the last micro-batch, with the bits of `all_reduce` of the result. Ranks may have different numbers
/// of micro-batches. Rejects a loss that is not a partial sum along this axis alone (R23).
template <class Model, class Passed, class First, class Layers, class Loss, class... Axes, class Along,
          class Verdict = detail::reduced_stages_verdict<Model, pipelined_batches<Passed, First, Layers, Loss>,
                                                         ranks::mesh<Axes...>, Along>>
  requires allowed<Verdict>
[[nodiscard]] auto value_and_gradient(const Model& model, const pipelined_batches<Passed, First, Layers, Loss>& batches,
                                      const ranks::mesh<Axes...>& mesh, const gradient_reduction<Along>& how) {
  using M = detail::first_t<detail::stage_axis_t<Model>>;
  return ranks::detail::taking_part_in(mesh, "value_and_gradient", [&] {
    return detail::stage_steps<detail::stage_types<Model, Passed, First, Layers, Loss>>(
               model, batches, mesh.template along<M>(), {&how.along, &detail::axis_id<Along>})
        .run_reduced();
  });
}

}  // namespace no_adl

}  // namespace dimwise

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/ranks/training/stages_definitions.hpp>
#endif

// SPDX-License-Identifier: BSL-1.0
// dimwise/grad/optimiser.hpp -- stochastic gradient descent, Adam and AdamW over models.
//
// Layer: grad. What an optimiser remembers is a struct of models and a step: it is copied, saved and loaded as one.
// Tests: tests/grad/training/optimiser.test.cpp, tests/compile_fail/grad/
//
//   adamw optimiser(model, {.rate = 1e-3, .weight_decay = 0.1});
//   optimiser.step(model, clip_norm(gradient, 1.0));
#pragma once

#include <dimwise/grad/parameters/passes.hpp>
#include <dimwise/grad/partial_gradient.hpp>
#include <dimwise/grad/schedule.hpp>
#include <dimwise/support/math.hpp>
#include <dimwise/tensor/tensor.hpp>

#include <cstdint>

namespace dimwise {

namespace op {
struct sgd;
struct adam;
struct adamw;
}  // namespace op

namespace detail {

// A model of that structure whose parameters are 0.
template <class M>
M zeros_like(const M& m) {
  static_assert(nn::detail::all_members_are_named<M>());
  M zeros = m;
  clear_parameters(parameter_list(zeros));
  return zeros;
}

template <class M, class G>
struct judged_gradient {
  using type = std::conditional_t<!nn::detail::has_walked_parameters<M>(), ERROR_R21_model_has_no_parameters<M>,
                                  std::conditional_t<std::is_same_v<M, G>, accepted<shape<>>,
                                                     ERROR_R22_gradient_belongs_to_another_model<over<M>, over<G>>>>;
};
template <class M, class... Along>
struct judged_gradient<M, partial_gradient<M, Along...>> : unreduced_gradient<op::step, partial_gradient<M, Along...>> {
};
template <class M, class G>
using gradient_verdict = typename judged_gradient<M, G>::type;

// A model of which this rank has all parameters.
template <class M>
concept undivided_model = nn::detail::has_walked_parameters<M>() && mesh_axes_of_model_t<M>::size == 0;

// The operand of a norm: a whole model, not the terms of one rank.
template <class Op, class G>
struct judged_norm {
  using type = ERROR_R21_model_has_no_parameters<G>;
};
template <class Op, class G>
  requires(nn::detail::has_walked_parameters<G>())
struct judged_norm<Op, G> {
  using type = ERROR_R24_norm_of_a_divided_model_takes_the_mesh<Op, over_t<mesh_axes_of_model_t<G>>>;
};
template <class Op, class Model, class... Along>
struct judged_norm<Op, partial_gradient<Model, Along...>> : unreduced_gradient<Op, partial_gradient<Model, Along...>> {
};

template <class M, class Model>
using other_model = ERROR_R22_optimiser_steps_the_model_that_it_was_made_for<over<M>, over<Model>>;

}  // namespace detail

namespace no_adl {

/// √(the sum of the squares of all parameters of `m`), in float64: one norm of the whole model.
template <class M>
  requires detail::undivided_model<M>
[[nodiscard]] double norm_of(const M& m) {
  const detail::scaled_norm norm = detail::norm_of_parameters(detail::parameter_list(m));
  return detail::math::ldexp(norm.rest, norm.exponent);
}

/// `gradient` times min(1, limit / (norm + 1e-6)), where the norm is that of all its parameters (Pascanu, Mikolov and
/// Bengio 2013): its directions stay, its length is at most `limit`.
template <class M>
  requires detail::undivided_model<M>
[[nodiscard]] M clip_norm(M gradient, double limit) {
  if (!(limit >= 0)) { detail::throw_number("clip_norm", "the limit", limit, "number of 0 or more"); }
  detail::clip_parameters(detail::parameter_list(gradient), limit);
  return gradient;
}
template <class M, class Error = typename detail::judged_norm<op::norm_of, M>::type>
  requires(!detail::undivided_model<M>)
Error norm_of(const M& m);
template <class M, class Error = typename detail::judged_norm<op::clip_norm, M>::type>
  requires(!detail::undivided_model<M>)
Error clip_norm(const M& gradient, double limit);
template <class M, class Error = ERROR_R1_argument_is_missing<op::clip_norm, argument::limit>>
Error clip_norm(const M& gradient);
DIMWISE_DETAIL_MISUSED(clip_norm)

}  // namespace no_adl

/// The state of `sgd`: the velocity of every parameter, and the number of steps.
template <class M>
struct sgd_state {
  M velocity{};
  tensor<std::int64_t> step{};
  using members = nn::member_list<&sgd_state::velocity, &sgd_state::step>;
};

/// Of `sgd`. `decayed` says by names which parameters decay, in place of their kinds (`is_decayed`).
struct sgd_settings {
  learning_rate rate = 1e-2;
  double momentum = 0;
  double dampening = 0;  ///< how much less a gradient counts beside the momentum; the first one counts whole
  bool nesterov = false;
  double weight_decay = 0;  ///< added to the gradient
  decay_choice decayed = {};
};

/// p −= rate · v, where v = momentum · v + (1 − dampening) · g and g = gradient + decay · p (Robbins and Monro 1951,
/// Polyak 1964); with `nesterov`, p −= rate · (g + momentum · v).
template <class M>
class sgd {
 public:
  sgd_settings settings;
  sgd_state<M> state;

  /// For a model of these extents; its momenta are zeros.
  explicit sgd(const M& model, sgd_settings s = {})
      : settings(static_cast<sgd_settings&&>(s)), state{detail::zeros_like(model), tensor<std::int64_t>(0)} {}
  template <class... Given, class Error = ERROR_R1_operation_takes_other_arguments<op::sgd, Given...>>
  explicit sgd(const Given&... given) DIMWISE_DETAIL_REFUSED(Error);

  /// Moves `model` against its gradient. Throws `extent_error` where the two have other extents, `number_error` for
  /// settings out of range, `std::bad_alloc` where memory is missing; nothing has moved then.
  template <class G, class Verdict = detail::gradient_verdict<M, G>>
    requires allowed<Verdict>
  void step(M& model, const G& gradient) {
    using detail::parameter_list;
    detail::step_sgd({settings.rate, settings.momentum, settings.dampening, settings.nesterov, settings.weight_decay,
                      settings.decayed},
                     parameter_list(model), parameter_list(gradient), parameter_list(state.velocity), state.step);
  }
  template <class G, class Verdict = detail::gradient_verdict<M, G>>
    requires refused<Verdict>
  Verdict step(M& model, const G& gradient);
  template <class Model, class G, class Error = detail::other_model<M, Model>>
    requires(!std::is_convertible_v<Model&, M&>)
  Error step(Model& model, const G& gradient);
};

/// The state of `adam` and `adamw`: two moments of every parameter, and the number of steps.
template <class M>
struct adam_state {
  M first{};
  M second{};
  tensor<std::int64_t> step{};
  using members = nn::member_list<&adam_state::first, &adam_state::second, &adam_state::step>;
};

namespace detail {

// Of `adam`, and of `adamw`, whose weight decay is decoupled from the gradient.
template <bool Decoupled>
struct adam_options {
  learning_rate rate = 1e-3;
  double beta1 = 0.9;    ///< how much of the first moment stays
  double beta2 = 0.999;  ///< how much of the second moment stays
  double epsilon = 1e-8;
  double weight_decay = Decoupled ? 0.01 : 0;
  decay_choice decayed = {};
};

}  // namespace detail

/// The settings of `adam`, whose default weight decay is 0, and of `adamw`, where it is 0.01. `decayed` selects by name
/// the parameters that decay, instead of by kind (`is_decayed`).
using adam_settings = detail::adam_options<false>;
using adamw_settings = detail::adam_options<true>;

namespace detail {

template <class M, bool Decoupled>
class adam_steps {
  static constexpr const char* name = Decoupled ? "adamw" : "adam";

 public:
  adam_options<Decoupled> settings;
  adam_state<M> state;

  /// Moves `model` against its gradient. Throws `extent_error` where the two have other extents, `number_error` for
  /// settings out of range, `std::bad_alloc` where memory is missing; nothing has moved then. What an executor
  /// throws is thrown after this thread has completed the step: `state.step` has counted it.
  template <class G, class Verdict = gradient_verdict<M, G>>
    requires allowed<Verdict>
  void step(M& model, const G& gradient) {
    step_adam_of({name, Decoupled, settings.rate, settings.beta1, settings.beta2, settings.epsilon,
                  settings.weight_decay, settings.decayed},
                 parameter_list(model), parameter_list(gradient), parameter_list(state.first),
                 parameter_list(state.second), state.step);
  }
  template <class G, class Verdict = gradient_verdict<M, G>>
    requires refused<Verdict>
  Verdict step(M& model, const G& gradient);
  template <class Model, class G, class Error = other_model<M, Model>>
    requires(!std::is_convertible_v<Model&, M&>)
  Error step(Model& model, const G& gradient);

 protected:
  adam_steps(const M& model, adam_options<Decoupled> s)
      : settings(static_cast<adam_options<Decoupled>&&>(s)),
        state{zeros_like(model), zeros_like(model), tensor<std::int64_t>(0)} {}
};

}  // namespace detail

/// p −= rate · m / (√v + ε), m and v the moments of g and g² without their bias towards 0 (Kingma and Ba 2015); the
/// decay is added to the gradient.
template <class M>
class adam : public detail::adam_steps<M, false> {
 public:
  /// For a model of these extents; its moments are zeros.
  explicit adam(const M& model, const adam_settings& s = {}) : detail::adam_steps<M, false>(model, s) {}
  template <class... Given, class Error = ERROR_R1_operation_takes_other_arguments<op::adam, Given...>>
  explicit adam(const Given&... given) DIMWISE_DETAIL_REFUSED(Error);
};

/// The same, with the decay beside it: p −= rate · decay · p (Loshchilov and Hutter 2019).
template <class M>
class adamw : public detail::adam_steps<M, true> {
 public:
  /// For a model of these extents; its moments are zeros.
  explicit adamw(const M& model, const adamw_settings& s = {}) : detail::adam_steps<M, true>(model, s) {}
  template <class... Given, class Error = ERROR_R1_operation_takes_other_arguments<op::adamw, Given...>>
  explicit adamw(const Given&... given) DIMWISE_DETAIL_REFUSED(Error);
};

// Of settings that are not in braces, for instance, which the constructors reject.
template <class M, class... Given>
sgd(const M&, const Given&...) -> sgd<M>;
template <class M, class... Given>
adam(const M&, const Given&...) -> adam<M>;
template <class M, class... Given>
adamw(const M&, const Given&...) -> adamw<M>;

}  // namespace dimwise

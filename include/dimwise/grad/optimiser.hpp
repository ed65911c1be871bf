// SPDX-License-Identifier: BSL-1.0
// dimwise/grad/optimiser.hpp -- stochastic gradient descent, Adam and AdamW over models.
//
// Layer: grad. What an optimiser remembers is a struct of models and a step: it is copied, saved and loaded as one.
// Tests: tests/grad/training/optimiser.test.cpp, tests/compile_fail/grad/
//
//   adamw optimiser(model, {.rate = 1e-3, .weight_decay = 0.1});
//   optimiser.step(model, clip_norm(gradient, 1.0));
#pragma once

#include <dimwise/eval/parameter_steps.hpp>
#include <dimwise/grad/decay.hpp>
#include <dimwise/grad/schedule.hpp>
#include <dimwise/tensor/tensor.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

namespace dimwise {

namespace detail {

// A model of that structure whose parameters are 0.
template <class M>
M zeros_like(const M& m) {
  static_assert(nn::detail::all_members_are_named<M>());
  M zeros = m;
  detail::each_named_parameter_of([](const std::string&, auto& part) {
    using Part = std::remove_cvref_t<decltype(part)>;
    auto fresh = Part::for_overwriting(part.extents());
    fresh.fill(typename Part::value_type(0));
    part = fresh;
  }, zeros);
  return zeros;
}

// Models that a step goes through side by side have parameters of the same extents. `whose` is the other one's name.
template <class M>
void check_same_extents(const char* what, const M& model, const M& other, const char* whose) {
  std::size_t count[2] = {};
  detail::each_named_parameter_of([&](const std::string&, const auto&) { ++count[0]; }, model);
  detail::each_named_parameter_of([&](const std::string&, const auto&) { ++count[1]; }, other);
  if (count[0] != count[1]) {
    raise<extent_error>(error{} << what << ": the model has " << count[0] << " parameters and the " << whose << " has "
                                << count[1] << " (R15)");
  }
  detail::each_named_parameter_of([&](const std::string& name, const auto& a, const auto& b) {
    using axes = axes_for<shape_of<std::remove_cvref_t<decltype(a)>>>;
    axis extents[2][max_rank];
    axis_extents<axes>::write(a.extents(), extents[0]);
    axis_extents<axes>::write(b.extents(), extents[1]);
    for (std::size_t i = 0; i < axes::size; ++i) {
      if (extents[0][i].extent != extents[1][i].extent) {
        raise<extent_error>(error{} << what << ": the parameter " << name.c_str() << (name.empty() ? "" : " ")
                                    << "has extent " << extents[0][i].extent << " of " << axis_extents<axes>::names[i]()
                                    << ", the " << whose << " has " << extents[1][i].extent << " (R15)");
      }
    }
  }, model, other);
}

// Takes all memory that a step needs, before it changes anything: elements of their own for the models that it writes,
// and those of the gradient. A step that has begun ends, so one that throws has changed nothing.
template <class G, class... M>
whole_passes prepared_step(const G& gradient, M&... written) {
  std::size_t longest = 0;
  each_parameter_of([&](const auto& g, auto&... p) {
    longest = g.size() > longest ? g.size() : longest;
    (void)g.data();
    ((void)p.overwrite(), ...);
  }, gradient, written...);
  return whole_passes(longest);
}

// How many steps a state has made: a tensor, so that a file keeps it. Throws `number_error` below 0 and from 2^62 on.
inline std::size_t steps_made(const tensor<std::int64_t>& step) {
  const std::int64_t made = step;
  if (made < 0 || made >= std::int64_t{1} << 62) {
    raise<number_error>(error{} << "an optimiser's state: its step is " << static_cast<long long>(made)
                                << ", a number from 0 to 2^62 was expected");
  }
  return static_cast<std::size_t>(made);
}
inline void count_step(tensor<std::int64_t>& step) {
  *step.overwrite() = static_cast<std::int64_t>(steps_made(step)) + 1;
}

// Settings of an optimiser are checked before anything moves, in the range of a float: parameters may be floats.
// `what` is a number from 0 to 1, where 1 is left out.
inline void check_share(const char* who, const char* what, double x) {
  if (!(x >= 0 && x < 1)) { raise<number_error>(error{} << who << ": " << what << " is 0 or more, and less than 1"); }
}
inline void check_at_least_0(const char* who, const char* what, double x) {
  if (!(x >= 0 && x <= double{std::numeric_limits<float>::max()})) {
    raise<number_error>(error{} << who << ": " << what << " is 0 or more, finite as a float, and no NaN");
  }
}
// A divisor beside a root that may be 0: 0 / 0 is NaN where a parameter never had a gradient.
inline void check_more_than_0(const char* who, const char* what, double x) {
  if (!(x >= double{std::numeric_limits<float>::min()} && x <= double{std::numeric_limits<float>::max()})) {
    raise<number_error>(error{} << who << ": " << what << " is more than 0 and finite as a float, and no NaN");
  }
}

template <class M, class G>
using gradient_verdict =
    std::conditional_t<!nn::detail::has_walked_parameters<M>(), ERROR_R21_model_has_no_parameters<M>,
                       std::conditional_t<std::is_same_v<M, G>, accepted<shape<>>,
                                          ERROR_R22_gradient_belongs_to_another_model<over<M>, over<G>>>>;

template <class M, class Model>
using other_model = ERROR_R22_optimiser_steps_the_model_that_it_was_made_for<over<M>, over<Model>>;

template <class M>
scaled_norm norm_of_model(const M& m) {
  return norm_of_all([&](const auto& f) {
    detail::each_named_parameter_of([&](const std::string&, const auto& part) { f(part.size(), part.data()); }, m);
  });
}

}  // namespace detail

namespace no_adl {

/// √(the sum of the squares of all parameters of `m`), in float64: one norm of the whole model.
template <class M>
  requires(nn::detail::has_walked_parameters<M>())
[[nodiscard]] double norm_of(const M& m) {
  const detail::scaled_norm norm = detail::norm_of_model(m);
  return std::ldexp(norm.rest, norm.exponent);
}

/// `gradient` times min(1, limit / (norm + 1e-6)), where the norm is that of all its parameters (Pascanu, Mikolov and
/// Bengio 2013): its directions stay, its length is at most `limit`.
template <class M>
  requires(nn::detail::has_walked_parameters<M>())
[[nodiscard]] M clip_norm(M gradient, double limit) {
  if (!(limit >= 0)) { detail::raise<number_error>(error{} << "clip_norm: the limit of a norm is 0 or more"); }
  const detail::scaled_norm norm = detail::norm_of_model(gradient);
  const double factor = limit / (std::ldexp(norm.rest, norm.exponent) + 1e-6);
  if (!(factor < 1)) { return gradient; }
  detail::each_named_parameter_of([&](const std::string&, auto& part) {
    using T = typename std::remove_cvref_t<decltype(part)>::value_type;
    if (static_cast<T>(factor) >= std::numeric_limits<T>::min() || norm.rest - norm.rest != 0) {
      return detail::multiply_elements(part.size(), part.overwrite(), static_cast<T>(factor));
    }
    // A norm near the largest number: its inverse has few digits, or none.
    T* const x = part.overwrite();
    for (std::size_t i = 0; i < part.size(); ++i) {
      x[i] = static_cast<T>(std::ldexp(static_cast<double>(x[i]), -norm.exponent) * (limit / norm.rest));
    }
  }, gradient);
  return gradient;
}
template <class M, class Error = ERROR_R21_model_has_no_parameters<M>>
  requires(!nn::detail::has_walked_parameters<M>())
Error norm_of(const M& m);
template <class M, class Error = ERROR_R21_model_has_no_parameters<M>>
  requires(!nn::detail::has_walked_parameters<M>())
Error clip_norm(const M& gradient, double limit);

}  // namespace no_adl

/// What `sgd` remembers: the velocity of every parameter, and how many steps were made.
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

  /// Moves `model` against its gradient. Throws `extent_error` where the two have other extents, `number_error` for
  /// settings out of range, `std::bad_alloc` where memory is missing; nothing has moved then.
  template <class G, class Verdict = detail::gradient_verdict<M, G>>
    requires allowed<Verdict>
  void step(M& model, const G& gradient) {
    detail::check_same_extents("sgd", model, gradient, "gradient");
    detail::check_same_extents("sgd", model, state.velocity, "velocity");
    const auto decayed = detail::decayed_parameters(model, settings.decayed);
    const std::size_t made = detail::steps_made(state.step);
    const double rate = settings.rate(made);
    detail::check_at_least_0("sgd", "the rate", rate);
    detail::check_share("sgd", "the momentum", settings.momentum);
    if (!(settings.dampening >= 0 && settings.dampening <= 1)) {
      detail::raise<number_error>(error{} << "sgd: the dampening is from 0 to 1");
    }
    detail::check_at_least_0("sgd", "the weight decay", settings.weight_decay);
    const double fresh = made == 0 ? 1.0 : 1.0 - settings.dampening;
    (void)detail::prepared_step(gradient, model, state.velocity);
    std::size_t which = 0;
    detail::each_parameter_of([&](auto& p, const auto& g, auto& v) {
      move(p, g, v, rate, decayed[which++] ? settings.weight_decay : 0.0, fresh);
    }, model, gradient, state.velocity);
    detail::count_step(state.step);
  }
  template <class G, class Verdict = detail::gradient_verdict<M, G>>
    requires refused<Verdict>
  Verdict step(M& model, const G& gradient);
  template <class Model, class G, class Error = detail::other_model<M, Model>>
    requires(!std::is_convertible_v<Model&, M&>)
  Error step(Model& model, const G& gradient);

 private:
  template <class P>
  void move(P& parameter, const P& gradient, P& velocity, double rate, double decay, double added) const {
    using T = typename P::value_type;
    const auto r = static_cast<T>(rate);
    const auto d = static_cast<T>(decay);
    const auto m = static_cast<T>(settings.momentum);
    const auto fresh = static_cast<T>(added);
    const T* const g = gradient.data();
    T* const p = parameter.overwrite();
    const std::size_t n = parameter.size();
    if (settings.momentum == 0) {
      for (std::size_t i = 0; i < n; ++i) { p[i] -= r * (g[i] + d * p[i]); }
      return;
    }
    T* const v = velocity.overwrite();
    for (std::size_t i = 0; i < n; ++i) {
      const T slope = g[i] + d * p[i];
      v[i] = m * v[i] + fresh * slope;
      p[i] -= r * (settings.nesterov ? slope + m * v[i] : v[i]);
    }
  }
};

/// What `adam` and `adamw` remember: two moments of every parameter, and how many steps were made.
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

/// Of `adam`, whose weight decay is 0 unless it is said, and of `adamw`, where it is 0.01. `decayed` says by names
/// which parameters decay, in place of their kinds (`is_decayed`).
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
    check_same_extents(name, model, gradient, "gradient");
    check_same_extents(name, model, state.first, "first moment");
    check_same_extents(name, model, state.second, "second moment");
    const auto decayed = decayed_parameters(model, settings.decayed);
    const std::size_t made = steps_made(state.step);
    const double rate = settings.rate(made);
    check_at_least_0(name, "the rate", rate);
    check_share(name, "beta1", settings.beta1);
    check_share(name, "beta2", settings.beta2);
    check_more_than_0(name, "epsilon", settings.epsilon);
    check_at_least_0(name, "the weight decay", settings.weight_decay);
    whole_passes passes = prepared_step(gradient, model, state.first, state.second);
    count_step(state.step);
    const auto steps = static_cast<double>(made + 1);
    const double first_left = 1 - std::pow(settings.beta1, steps);
    const double second_left = std::sqrt(1 - std::pow(settings.beta2, steps));
    std::size_t which = 0;
    each_parameter_of([&](auto& p, const auto& g, auto& m, auto& v) {
      move(passes, p, g, m, v, rate, decayed[which++] ? settings.weight_decay : 0.0, first_left, second_left);
    }, model, gradient, state.first, state.second);
    passes.finish();
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

 private:
  template <class P>
  void move(whole_passes& passes, P& parameter, const P& gradient, P& first, P& second, double rate, double decay,
            double first_left, double second_left) const {
    using T = typename P::value_type;
    const auto number = [](double x) { return static_cast<T>(x); };
    const adam_numbers<T> by{
        .decay = number(Decoupled ? 0.0 : decay),
        .first_kept = number(settings.beta1),
        .first_added = number(1 - settings.beta1),
        .second_kept = number(settings.beta2),
        .second_added = number(1 - settings.beta2),
        .kept = number(Decoupled ? 1 - rate * decay : 1.0),
        .size = number(rate / first_left),
        .root = number(1 / second_left),
        .epsilon = number(settings.epsilon),
    };
    step_adam(passes, by, parameter.size(), gradient.data(), parameter.overwrite(), first.overwrite(),
              second.overwrite());
  }
};

}  // namespace detail

/// p −= rate · m / (√v + ε), m and v the moments of g and g² without their bias towards 0 (Kingma and Ba 2015); the
/// decay is added to the gradient.
template <class M>
class adam : public detail::adam_steps<M, false> {
 public:
  /// For a model of these extents; its moments are zeros.
  explicit adam(const M& model, const adam_settings& s = {}) : detail::adam_steps<M, false>(model, s) {}
};

/// The same, with the decay beside it: p −= rate · decay · p (Loshchilov and Hutter 2019).
template <class M>
class adamw : public detail::adam_steps<M, true> {
 public:
  /// For a model of these extents; its moments are zeros.
  explicit adamw(const M& model, const adamw_settings& s = {}) : detail::adam_steps<M, true>(model, s) {}
};

}  // namespace dimwise

// SPDX-License-Identifier: BSL-1.0
// dimwise/ranks/training/optimiser.hpp -- optimisers of which each rank keeps a part of the state.
//
// Layer: ranks. ZeRO, stage 1 (Rajbhandari et al. 2020): each rank adds the terms of its part of the parameters'
// elements (reduce-scatter), steps this part, and all ranks share the parameters (all-gather). Each element takes the
// step that the optimiser of one rank makes, so the bits are equal.
// Tests: tests/ranks/training/training.test.cpp, tests/ranks/mpi/, tests/compile_fail/ranks/
//
//   auto optimiser = sharded_adamw<dp>(model, {.rate = 1e-3}, mesh);
//   optimiser.step(model, gradient);        // partial_gradient<Model, dp>, or the whole gradient
#pragma once

#include <dimwise/grad/optimiser.hpp>
#include <dimwise/ranks/training/gradients.hpp>

#include <cstddef>
#include <vector>

namespace dimwise {

namespace op {
struct sharded_sgd;
struct sharded_adam;
struct sharded_adamw;
}  // namespace op

namespace detail {

// Some elements of one parameter.
struct element_span {
  std::size_t parameter;
  std::size_t begin;
  std::size_t end;
};
// The parameters of one element type: the elements that each rank steps, and this rank's state of its own.
struct optimised_group {
  std::size_t bytes_of_one = 0;
  bool is_divided = false;  // each rank has another part already, and steps all of it
  std::vector<std::vector<element_span>> spans{};
  std::vector<std::size_t> sizes{};
  std::vector<std::vector<std::byte>> states{};
};

// The state of a gradient: complete, or this rank's terms; those of an average are divided by the sum of the counts.
struct gradient_terms {
  bool has_terms = false;
  bool is_average = false;
  double count = 0;
};
template <class Model>
gradient_terms terms_in(const Model&) {
  return {};
}
template <class Model, class... M>
gradient_terms terms_in(const partial_gradient<Model, M...>& g) {
  return {true, g.is_average, g.count};
}

// The elements of a model, divided among the ranks along a mesh axis.
class optimiser_parts {
 public:
  DIMWISE_DETAIL_LIBRARY optimiser_parts(const parameter_list& model, const ranks::communicator& along, axis_key axis,
                                         std::size_t states);

  /// A step of the parameters. The terms of a gradient are added first. What is wrong on this rank is thrown before a
  /// message.
  DIMWISE_DETAIL_LIBRARY void step_sgd(const sgd_choices& by, const parameter_list& model,
                                       const parameter_list& gradient, const gradient_terms& terms,
                                       tensor<std::int64_t>& step);
  DIMWISE_DETAIL_LIBRARY void step_adam(const adam_choices& by, const parameter_list& model,
                                        const parameter_list& gradient, const gradient_terms& terms,
                                        tensor<std::int64_t>& step);
  /// The whole of a state on all ranks.
  DIMWISE_DETAIL_LIBRARY void gather(std::size_t state, const parameter_list& to) const;
  /// This rank's part of a state.
  DIMWISE_DETAIL_LIBRARY void take(std::size_t state, const parameter_list& from);
  /// The bytes of this rank's state.
  [[nodiscard]] DIMWISE_DETAIL_LIBRARY std::size_t bytes() const;

 private:
  template <class F>
  void each_round(const parameter_list& model, const parameter_list& gradient, const gradient_terms& terms,
                  const F& update);

  ranks::communicator along_;
  std::vector<optimised_group> groups_{};
};

// A gradient that an optimiser of parts along M takes: complete, or the terms of the ranks along M alone.
template <class M, class Model, class G>
struct judged_sharded_gradient : judged_gradient<Model, G> {};
template <class M, class Model>
struct judged_sharded_gradient<M, Model, partial_gradient<Model, M>> {
  using type = accepted<shape<>>;
};
template <class M, class Model, class G>
using sharded_gradient_verdict = typename judged_sharded_gradient<M, Model, G>::type;

template <class Model>
const Model& parameters_of(const Model& g) {
  return g;
}
template <class Model, class... M>
const Model& parameters_of(const partial_gradient<Model, M...>& g) {
  return g.terms;
}

}  // namespace detail

/// `sgd` whose state is divided among the ranks along M: `sharded_sgd<M>(model, settings, mesh)` makes one.
template <class M, class Model>
class sgd_of_parts {
 public:
  sgd_settings settings;

  /// For a model of these extents; its momenta are zeros.
  sgd_of_parts(const Model& model, sgd_settings s, const ranks::communicator& along)
      : settings(static_cast<sgd_settings&&>(s)),
        parts_(detail::parameter_list(model), along, &detail::axis_id<M>, 1) {}

  /// Moves `model`, which is the same on all ranks along M, against its gradient. All ranks call it. Throws what
  /// `sgd::step` throws, before anything is sent; after a `rank_error` the model is undefined.
  template <class G, class Verdict = detail::sharded_gradient_verdict<M, Model, G>>
    requires allowed<Verdict>
  void step(Model& model, const G& gradient) {
    parts_.step_sgd({settings.rate, settings.momentum, settings.dampening, settings.nesterov, settings.weight_decay,
                     settings.decayed},
                    detail::parameter_list(model), detail::parameter_list(detail::parameters_of(gradient)),
                    detail::terms_in(gradient), step_);
  }
  template <class G, class Verdict = detail::sharded_gradient_verdict<M, Model, G>>
    requires refused<Verdict>
  Verdict step(Model& model, const G& gradient);

  /// The whole state, on all ranks, which all call it: that of an `sgd` of one rank. `model` gives the extents.
  [[nodiscard]] sgd_state<Model> state(const Model& model) const {
    sgd_state<Model> whole{detail::zeros_like(model), step_};
    parts_.gather(0, detail::parameter_list(whole.velocity));
    return whole;
  }
  /// Goes on from a whole state; each rank keeps its part. The state may be of another number of ranks.
  void set_state(const sgd_state<Model>& whole) {
    parts_.take(0, detail::parameter_list(whole.velocity));
    step_ = whole.step;
  }
  /// The bytes of this rank's part of the state.
  [[nodiscard]] std::size_t state_bytes() const { return parts_.bytes(); }

 private:
  detail::optimiser_parts parts_;
  tensor<std::int64_t> step_{};
};

/// `adam`, or `adamw` if `Decoupled`, whose moments are divided among the ranks along M: `sharded_adamw<M>(model,
/// settings, mesh)` makes one.
template <class M, class Model, bool Decoupled>
class adam_of_parts {
 public:
  detail::adam_options<Decoupled> settings;

  /// For a model of these extents; its moments are zeros.
  adam_of_parts(const Model& model, detail::adam_options<Decoupled> s, const ranks::communicator& along)
      : settings(static_cast<detail::adam_options<Decoupled>&&>(s)),
        parts_(detail::parameter_list(model), along, &detail::axis_id<M>, 2) {}

  /// Moves `model`, which is the same on all ranks along M, against its gradient. All ranks call it. Throws what
  /// `adam::step` throws, before anything is sent; after a `rank_error` the model is undefined.
  template <class G, class Verdict = detail::sharded_gradient_verdict<M, Model, G>>
    requires allowed<Verdict>
  void step(Model& model, const G& gradient) {
    parts_.step_adam({Decoupled ? "sharded_adamw" : "sharded_adam", Decoupled, settings.rate, settings.beta1,
                      settings.beta2, settings.epsilon, settings.weight_decay, settings.decayed},
                     detail::parameter_list(model), detail::parameter_list(detail::parameters_of(gradient)),
                     detail::terms_in(gradient), step_);
  }
  template <class G, class Verdict = detail::sharded_gradient_verdict<M, Model, G>>
    requires refused<Verdict>
  Verdict step(Model& model, const G& gradient);

  /// The whole state, on all ranks, which all call it: that of the optimiser of one rank. `model` gives the extents.
  [[nodiscard]] adam_state<Model> state(const Model& model) const {
    adam_state<Model> whole{detail::zeros_like(model), detail::zeros_like(model), step_};
    parts_.gather(0, detail::parameter_list(whole.first));
    parts_.gather(1, detail::parameter_list(whole.second));
    return whole;
  }
  /// Goes on from a whole state; each rank keeps its part. The state may be of another number of ranks.
  void set_state(const adam_state<Model>& whole) {
    parts_.take(0, detail::parameter_list(whole.first));
    parts_.take(1, detail::parameter_list(whole.second));
    step_ = whole.step;
  }
  /// The bytes of this rank's part of the state.
  [[nodiscard]] std::size_t state_bytes() const { return parts_.bytes(); }

 private:
  detail::optimiser_parts parts_;
  tensor<std::int64_t> step_{};
};

namespace no_adl {

#define DIMWISE_DETAIL_SHARDED_OPTIMISER(name, made, options)                                              \
  template <class M, class Model, class... Axes>                                                           \
    requires(ranks::mesh<Axes...>::template has<M> && nn::detail::has_walked_parameters<Model>() &&        \
             detail::names_its_stages<Model>)                                                              \
  [[nodiscard]] made name(const Model& model, const options& settings, const ranks::mesh<Axes...>& mesh) { \
    return made(model, settings, mesh.template along<M>());                                                \
  }                                                                                                        \
  template <class M, class Model, class... Axes,                                                           \
            class Error = ERROR_R25_mesh_has_no_such_axis<op::name, over<M>, ranks::mesh<Axes...>>>        \
    requires(!ranks::mesh<Axes...>::template has<M>)                                                       \
  Error name(const Model& model, const options& settings, const ranks::mesh<Axes...>& mesh);               \
  template <class M, class Model, class... Axes,                                                           \
            class Error = ERROR_R25_model_names_no_axis_of_stages<op::name, over<Model>>>                  \
    requires(ranks::mesh<Axes...>::template has<M> && nn::detail::has_walked_parameters<Model>() &&        \
             !detail::names_its_stages<Model>)                                                             \
  Error name(const Model& model, const options& settings, const ranks::mesh<Axes...>& mesh);               \
  DIMWISE_DETAIL_MISUSED(name)
#define DIMWISE_DETAIL_MADE(...) __VA_ARGS__
/// An `sgd` whose state is divided among the ranks along M: each rank keeps 1/N of it.
DIMWISE_DETAIL_SHARDED_OPTIMISER(sharded_sgd, DIMWISE_DETAIL_MADE(sgd_of_parts<M, Model>), sgd_settings)
/// An `adam` whose moments are divided among the ranks along M: each rank keeps 1/N of them.
DIMWISE_DETAIL_SHARDED_OPTIMISER(sharded_adam, DIMWISE_DETAIL_MADE(adam_of_parts<M, Model, false>), adam_settings)
/// An `adamw` whose moments are divided among the ranks along M: each rank keeps 1/N of them.
DIMWISE_DETAIL_SHARDED_OPTIMISER(sharded_adamw, DIMWISE_DETAIL_MADE(adam_of_parts<M, Model, true>), adamw_settings)
#undef DIMWISE_DETAIL_SHARDED_OPTIMISER
#undef DIMWISE_DETAIL_MADE

}  // namespace no_adl

}  // namespace dimwise

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/ranks/training/optimiser_definitions.hpp>
#endif

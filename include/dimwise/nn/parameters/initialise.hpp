// SPDX-License-Identifier: BSL-1.0
// dimwise/nn/parameters/initialise.hpp -- random initialisation of the parameters of a module.
//
// Layer: nn.
// Tests: tests/nn/parameters.test.cpp
//
//   auto layer = initialised<encoder_layer<…>>(xavier_uniform(42), hidden{2048});
//   initialise(part, how, mesh, hidden{2048});   // parameters that ranks divide: each has its part of the same draw
#pragma once

#include <dimwise/nn/parameters.hpp>
#include <dimwise/nn/parameters/part_on_rank.hpp>
#include <dimwise/nn/parameters/stage.hpp>
#include <dimwise/support/math.hpp>
#include <dimwise/tensor/random.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <vector>

namespace dimwise::nn {

/// The random number generator; uniform numbers are identical on every machine.
using random = dimwise::detail::random_numbers;

/// Weights uniform within ±gain·√(6 / (inputs + outputs)) (Glorot and Bengio 2010, equation 16).
class xavier_uniform {
 public:
  /// Equal seeds give equal weights on every machine.
  explicit xavier_uniform(std::uint64_t seed, double gain = 1) : random_(seed), gain_(gain) {}
  [[nodiscard]] double operator()(std::size_t inputs, std::size_t outputs) {
    return gain_ * dimwise::detail::math::sqrt(6.0 / static_cast<double>(inputs + outputs)) *
           (2 * random_.uniform() - 1);
  }

 private:
  random random_;
  double gain_;
};

/// Weights normal with standard deviation gain·√(2 / (inputs + outputs)) (Glorot and Bengio 2010).
class xavier_normal {
 public:
  /// Equal seeds give equal weights on one machine; the last digits may differ on another.
  explicit xavier_normal(std::uint64_t seed, double gain = 1) : random_(seed), gain_(gain) {}
  [[nodiscard]] double operator()(std::size_t inputs, std::size_t outputs) {
    return gain_ * dimwise::detail::math::sqrt(2.0 / static_cast<double>(inputs + outputs)) * random_.normal();
  }

 private:
  random random_;
  double gain_;
};

/// Normal weights with one standard deviation for all parameters: 0.02 in GPT-2.
class normal {
 public:
  /// Equal seeds give equal weights on one machine; the last digits may differ on another.
  explicit normal(std::uint64_t seed, double deviation = 0.02) : random_(seed), deviation_(deviation) {}
  [[nodiscard]] double operator()(std::size_t, std::size_t) { return deviation_ * random_.normal(); }

 private:
  random random_;
  double deviation_;
};

namespace detail {

// The whole extents of a module, and this rank's place in a mesh: the extents of its parts.
template <class Mesh, class... Whole>
class extents_on_rank;
template <template <class...> class Mesh, class... Axes, class... Whole>
class extents_on_rank<Mesh<Axes...>, Whole...> {
 public:
  explicit extents_on_rank(const Mesh<Axes...>& mesh, const Whole&... whole)
      : ranks{rank_along{&axis_id<Axes>, mesh.template coordinate<Axes>(), mesh.template count<Axes>()}...},
        wholes{whole_extent{&axis_id<Whole>, static_cast<std::size_t>(whole.extent())}...},
        given_(whole...) {}

  // Those of the dimensions in the list that follow from the whole ones, as a tuple.
  template <class... D>
  [[nodiscard]] auto among(list<D...>) const {
    return std::tuple_cat([&] {
      if constexpr (knows<D>()) {
        return std::tuple<D>(of<D>());
      } else {
        return std::tuple<>();
      }
    }()...);
  }
  [[noreturn]] static void raise_unknown(dimwise::detail::text dimension, const char* what) {
    raise<extent_error>(error{} << "initialise: " << what << " of dimension " << dimension << " is not known (R15)");
  }

  std::array<rank_along, sizeof...(Axes)> ranks;
  std::array<whole_extent, sizeof...(Whole)> wholes;

 private:
  template <class D>
  static consteval bool knows() {
    if constexpr (is_shard<D>) {
      return is_in<typename D::shard_along, list<Axes...>> && knows<typename D::shard_of>();
    } else {
      return D::static_extent != at_run_time || is_in<D, list<Whole...>>;
    }
  }
  template <class D>
  [[nodiscard]] D of() const {
    if constexpr (is_shard<D>) {
      constexpr std::size_t axis = place_in<list<Axes...>, typename D::shard_along>;
      return part_here<D>(of<typename D::shard_of>(), ranks[axis].rank, ranks[axis].ranks);
    } else if constexpr (D::static_extent != at_run_time) {
      return D{};
    } else {
      return std::get<D>(given_);
    }
  }

  std::tuple<Whole...> given_;
};
template <class X>
inline constexpr bool is_extents_on_rank = false;
template <class Mesh, class... Whole>
inline constexpr bool is_extents_on_rank<extents_on_rank<Mesh, Whole...>> = true;

// The given extents of the dimensions in the list Needed, as a tuple.
template <class Needed, class... Given>
auto extents_among(const Given&... given) {
  [[maybe_unused]] const auto one = []<class D>(const D& d) {
    if constexpr (is_extents_on_rank<D>) {
      return d.among(Needed{});
    } else if constexpr (is_in<D, Needed>) {
      return std::tuple<D>(d);
    } else {
      return std::tuple<>();
    }
  };
  return std::tuple_cat(one(given)...);
}

// A zero tensor with the given extents; `initialise` has rejected missing ones (R15). This function avoids the further
// errors of std::apply.
template <class Tensor, class... Needed>
Tensor zeros_of(const std::tuple<Needed...>& extents) {
  return Tensor(std::get<Needed>(extents)...);
}
// `given` has the extents of all parameters of a module; Tensor takes its own.
template <class Tensor, class... Given>
Tensor zeros(const Given&... given) {
  return zeros_of<Tensor>(extents_among<run_time_atoms_t<shape_of<Tensor>>>(given...));
}

// What a divided module's own `initialise_parameters` gets instead of `how` and passes on (R24): numbers that it drew
// itself would be the same on every rank.
template <class How, class Axes>
struct draws_parts {
  How& how;
  template <class... Counts,
            class Error = ERROR_R24_divided_parameters_are_drawn_by_initialise<op::initialise, over_t<Axes>>>
  Error operator()(const Counts&...) const;
};
template <class How>
inline constexpr bool is_draws_parts = false;
template <class How, class Axes>
inline constexpr bool is_draws_parts<draws_parts<How, Axes>> = true;
template <class How>
auto& source_of(How& how) {
  if constexpr (is_draws_parts<std::remove_const_t<How>>) {
    return how.how;
  } else {
    return how;
  }
}

// Draws a tensor from the dimensions I to O.
template <class I, class O, class Tensor, class How, class... Given>
void draw(Tensor& t, How& how, const Given&... given) {
  using T = typename Tensor::value_type;
  const auto drawn = [&](const auto& elements_of, const auto& all) {
    const std::size_t inputs = elements_of(I{}), outputs = elements_of(O{});
    std::vector<T> values(t.size());
    all(values, [&] { return static_cast<T>(source_of(how)(inputs, outputs)); });
    t.assign(values);
  };
  using factors = all_factors_t<dims_t<shape_of<Tensor>>>;
  if constexpr ((is_extents_on_rank<Given> || ...) && mesh_axes_of_list_t<factors>::size > 0) {
    const auto& known = (given, ...);
    const auto parts = parts_in_whole<factors>::of(t.extents(), known);
    const auto whole_of = [&]<class... D>(list<D...>) {
      std::size_t product = 1;
      for (const part_of_dimension& part : parts_in_whole<all_factors_t<list<D...>>>::of(t.extents(), known)) {
        product *= part.whole;
      }
      return product;
    };
    drawn(whole_of, [&](std::vector<T>& values, const auto& number) {
      std::size_t seen = walk_whole(parts, values.size(), number, [&](std::size_t i) { values[i] = number(); });
      for (const std::size_t all_of_them = whole_of(factors{}); seen < all_of_them; ++seen) { (void)number(); }
    });
  } else {
    const auto here_of = [&]<class... D>(list<D...>) { return (extent_of<D>(t) * ... * std::size_t{1}); };
    drawn(here_of, [](std::vector<T>& values, const auto& number) {
      for (T& v : values) { v = number(); }
    });
  }
}

// Whether How draws a weight of that many inputs and outputs.
template <class How>
concept draws_weights = is_draws_parts<How> || requires(How& how, std::size_t n) { static_cast<double>(how(n, n)); };

// A type with a function of its own decides what draws its weights, and needs no list of members.
template <class M, class How, class... Extents>
concept initialises_itself = std::is_class_v<How> && requires(M& m, How& how, const Extents&... extents) {
  m.initialise_parameters(how, extents...);
};

// Whether a module has no `initialise_parameters`, or one that passes `how` and the extents on, and says so
// (`static constexpr bool passes_on = true;`).
template <class M, class How, class... Extents>
inline constexpr bool is_passed_on = !initialises_itself<M, How, Extents...> && !initialises_itself<M, How>;
template <class M, class How, class... Extents>
  requires(requires { requires M::passes_on; })
inline constexpr bool is_passed_on<M, How, Extents...> = true;

// The types of the parameters that `initialise` draws, and of the modules that draw theirs without passing on.
template <class M, class How, class... Extents>
consteval auto drawn_types() {
  if constexpr (is_any_parameter<M>) {
    return list<M>{};
  } else if constexpr (is_sequence<M>) {
    return drawn_types<typename M::value_type, How, Extents...>();
  } else if constexpr (!is_passed_on<M, How, Extents...>) {
    return list<M>{};
  } else if constexpr (is_tuple<M> || module<M>) {
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return unique_t<join_t<list<>, decltype(drawn_types<std::remove_cvref_t<decltype(part_at<I>(std::declval<M&>()))>,
                                                          How, Extents...>())...>>{};
    }(std::make_index_sequence<part_count<M>()>{});
  } else {
    return list<>{};
  }
}
template <class X>
struct drawn_facts {
  using extents = list<>;
  using axes = axes_of_parameters_t<X>;  // of a module that draws its parameters itself
};
template <class X>
  requires is_any_parameter<X>
struct drawn_facts<X> {
  template <class... A>
  static auto whole(list<A...>) -> join_t<list<>, list_if<whole_t<A>::static_extent == at_run_time, whole_t<A>>...>;
  using extents = decltype(whole(run_time_atoms_t<typename X::shape_type>{}));
  using axes = list<>;
};

// R24, R25: ranks divide the parameters along these axes, so the first argument after `how` is a mesh that has them.
template <class Axes, class First, class...>
consteval auto judge_mesh() {
  if constexpr (is_extents_on_rank<First>) {  // an `initialise_parameters` hands it on to its members
    return answer<accepted<shape<>>>{};
  } else if constexpr (!is_mesh<First>) {
    return answer<ERROR_R24_draw_of_a_divided_model_takes_the_mesh<op::initialise, over_t<Axes>>>{};
  } else if constexpr (!is_subset<Axes, axes_of_mesh_t<First>>) {
    return answer<ERROR_R25_mesh_has_no_such_axis<op::initialise, over_t<Axes>, First>>{};
  } else {
    return answer<accepted<shape<>>>{};
  }
}
// Extents, or a mesh and whole extents.
template <class... Given>
inline constexpr bool are_extents = true;
template <class First, class... Given>
inline constexpr bool are_extents<First, Given...> =
    is_extents_on_rank<First> ? sizeof...(Given) == 0
    : is_mesh<First>          ? (dimension_type<Given> && ...) && !(is_shard<Given> || ...)
                              : dimension_type<First> && (dimension_type<Given> && ...);
// R15, R24: every run-time extent is given, and what ranks divide is drawn as a whole. Extents that a module passes on
// have been judged.
template <class Drawn, bool OnRanks, class... Extents>
struct judge_drawn;
template <class... X, bool OnRanks, class... Extents>
struct judge_drawn<list<X...>, OnRanks, Extents...> {
  using needed = unique_t<join_t<list<>, typename drawn_facts<X>::extents...>>;
  using axes = unique_t<join_t<list<>, typename drawn_facts<X>::axes...>>;
  template <class... D>
  static auto lacks(list<D...>)
      -> ERROR_R15_run_time_extents_are_given_once<op::initialise, over<about_t<D>...>, over<Extents...>>;
  static consteval auto verdict() {
    if constexpr (OnRanks && axes::size > 0) {
      return answer<ERROR_R24_divided_parameters_are_drawn_by_initialise<op::initialise, over_t<axes>>>{};
    } else if constexpr (!is_subset<needed, list<Extents...>>) {
      return answer<decltype(lacks(needed{}))>{};
    } else {
      return answer<accepted<shape<>>>{};
    }
  }
};
template <class Drawn, class... Given>
struct judge_given : judge_drawn<Drawn, false, Given...> {};
template <class Drawn, class First, class... Whole>
  requires is_mesh<First>
struct judge_given<Drawn, First, Whole...> : judge_drawn<Drawn, true, Whole...> {};
template <class Drawn, class Mesh, class... Whole>
struct judge_given<Drawn, extents_on_rank<Mesh, Whole...>> : judge_drawn<list<>, true> {};

// R1, R15, R21, R24, R25: a model, a function that draws its weights, a mesh if ranks divide the model, and extents as
// objects of their dimension.
template <class M, class How, class... Given>
consteval auto judge_initialise() {
  constexpr bool by_itself = initialises_itself<std::remove_const_t<M>, How, Given...>;
  using divided = axes_of_parameters_t<std::remove_const_t<M>>;
  if constexpr (!by_itself && !modules<std::remove_const_t<M>> && !is_any_parameter<std::remove_const_t<M>>) {
    return answer<not_a_module<op::initialise, M>>{};
  } else if constexpr (std::is_const_v<M>) {
    return answer<ERROR_R1_operation_takes_other_arguments<op::initialise, M>>{};
  } else if constexpr (!by_itself && !draws_weights<How>) {
    return answer<ERROR_R1_operation_takes_other_arguments<op::initialise, How>>{};
  } else if constexpr (!are_extents<Given...>) {
    return answer<ERROR_R1_operation_takes_other_arguments<op::initialise, M, How, Given...>>{};
  } else if constexpr (divided::size > 0 && refused<typename decltype(judge_mesh<divided, Given..., void>())::type>) {
    return judge_mesh<divided, Given..., void>();
  } else {
    using judged = judge_given<decltype(drawn_types<std::remove_const_t<M>, How, Given...>()), Given...>;
    if constexpr (refused<typename decltype(judged::verdict())::type>) {
      return judged::verdict();
    } else {
      return answer<accepted<M>>{};
    }
  }
}
template <class M, class How, class... Given>
using initialise_verdict = typename decltype(judge_initialise<M, std::remove_cvref_t<How>, Given...>())::type;

// The parameters of a part of a model; what has none is a setting.
template <class M, class How, class... Extents>
void initialise_part(M& m, How& how, const Extents&... extents) {
  using divided = axes_of_parameters_t<M>;
  if constexpr (requires { m.initialise_parameters(how, extents...); }) {
    if constexpr ((is_extents_on_rank<Extents> || ...) && divided::size > 0 && !is_draws_parts<How>) {
      draws_parts<How, divided> parts{how};
      m.initialise_parameters(parts, extents...);
    } else {
      m.initialise_parameters(how, extents...);
    }
  } else if constexpr (is_tensor<M>) {  // a vector that is a direct member
    m = zeros<M>(extents...);
    draw<dims_t<shape_of<M>>, dims_t<shape_of<M>>>(m, how, extents...);
  } else if constexpr (is_sequence<M>) {
    for (auto& part : m) { initialise_part(part, how, extents...); }
  } else if constexpr (module<M> || is_tuple<M>) {
    each_member(m, [&](auto& part) { initialise_part(part, how, extents...); });
  } else {
    static_assert(is_a_setting<M>::value);
  }
}
// The same of what ranks divide.
template <class M, class How, template <class...> class Mesh, mesh_axis_type... Axes, class... Whole>
  requires(sizeof...(Axes) > 0)
void initialise_part(M& m, How& how, const Mesh<Axes...>& mesh, const Whole&... whole) {
  initialise_part(m, how, extents_on_rank<Mesh<Axes...>, Whole...>(mesh, whole...));
}

}  // namespace detail

/// Initialises the parameters of `m` in member order: draws weights from `how`, sets biases to 0 and norm scales to 1.
/// Pass run-time extents once for the whole module; a missing one is rejected (R15). A non-const `how` is advanced, so
/// that the next module gets other numbers; a const one is copied. Rejects what does not draw weights, constant models,
/// extents that are not objects of their dimension (R1), and types that are not modules (R21).
///
/// If ranks divide parameters, pass a `ranks::mesh` and then the whole extents: each rank draws the numbers of whole
/// parameters, as one rank would, and has its part of them. Rejects such a model without a mesh, or if its
/// `initialise_parameters` draws numbers itself (R24), and a mesh that lacks an axis (R25).
template <class M, class How, class... Extents>
  requires allowed<detail::initialise_verdict<M, How, Extents...>>
void initialise(M& m, How&& how, const Extents&... extents) {
  const dimwise::detail::weights_together in_large_pages;
  if constexpr (std::is_const_v<std::remove_reference_t<How>>) {
    auto copy = how;
    detail::initialise_part(m, copy, extents...);
  } else {
    detail::initialise_part(m, how, extents...);
  }
}
template <class M, class How, class... Extents, class Error = detail::initialise_verdict<M, How, Extents...>>
  requires refused<Error>
Error initialise(M& m, How&& how, const Extents&... extents);
DIMWISE_DETAIL_MISUSED(initialise)

namespace detail {

// Whether a module contains a list of modules with a run-time length.
template <class M>
inline constexpr bool is_array = false;
template <class M, std::size_t N>
inline constexpr bool is_array<std::array<M, N>> = true;
template <class M>
consteval bool holds_sequence() {
  if constexpr (is_tensor<M>) {
    return false;
  } else if constexpr (is_array<M>) {
    return holds_sequence<typename M::value_type>();
  } else if constexpr (is_sequence<M>) {
    return true;
  } else if constexpr (module<M> || is_tuple<M>) {
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return (holds_sequence<std::remove_cvref_t<decltype(part_at<I>(std::declval<M&>()))>>() || ...);
    }(std::make_index_sequence<part_count<M>()>{});
  } else {
    return false;
  }
}

}  // namespace detail

/// Named in the error of `initialised<M>` if M contains a `stack`, whose length is unknown. Use
/// `M m{…stack<Layer>::of(6)…}; initialise(m, how);`.
template <class M>
struct a_stack_is_made_by_of_and_then_initialised;

/// A module with the parameters of `initialise`: `initialised<linear<from<d_model>, to<hidden>>>(xavier_uniform(1),
/// hidden{2048})`. Rejects modules that contain a `stack`, which would have no layers.
template <class M, class How, class... Extents>
  requires(!detail::holds_sequence<M>() && allowed<detail::initialise_verdict<M, How, Extents...>>)
[[nodiscard]] M initialised(How&& how, const Extents&... extents) {
  M m;
  initialise(m, static_cast<How&&>(how), extents...);
  return m;
}
template <class M, class How, class... Extents, class Error = detail::initialise_verdict<M, How, Extents...>>
  requires(!detail::holds_sequence<M>() && refused<Error>)
Error initialised(How&& how, const Extents&... extents);
template <class M, class How, class... Extents, class Reason = a_stack_is_made_by_of_and_then_initialised<M>>
  requires(detail::holds_sequence<M>())
Reason initialised(How&& how, const Extents&... extents);

}  // namespace dimwise::nn

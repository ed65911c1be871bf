// SPDX-License-Identifier: BSL-1.0
// dimwise/ranks/training/norms.hpp -- norms of models whose parameters ranks divide, and clipping by them.
//
// Layer: ranks.
// Tests: tests/ranks/training/training.test.cpp, tests/ranks/training/stages.test.cpp, tests/compile_fail/ranks/
//
//   optimiser.step(stage, clip_norm(gradient, 1.0, mesh));
#pragma once

#include <dimwise/grad/optimiser.hpp>
#include <dimwise/nn/parameters/stage.hpp>
#include <dimwise/ranks/mesh.hpp>

#include <array>
#include <cmath>
#include <cstddef>

namespace dimwise {

namespace detail {

// The axes of a mesh, apart from their types.
struct keyed_communicator {
  axis_key id;
  const ranks::communicator* along;
};
template <class... Axes>
std::array<keyed_communicator, sizeof...(Axes)> communicators_of(const ranks::mesh<Axes...>& mesh) {
  return {keyed_communicator{&axis_id<Axes>, &mesh.template along<Axes>()}...};
}
// √(the sum of squares) of all parameters, with each element of a divided one counted once. Of a stage, those of all
// stages.
DIMWISE_DETAIL_LIBRARY scaled_norm norm_over_ranks(const parameter_list& all, const keyed_communicator* axes,
                                                   std::size_t count);

// A model whose parameters are divided along axes of the mesh alone.
template <class M, class Mesh>
inline constexpr bool has_axes_of_model = false;
template <class M, class... Axes>
inline constexpr bool has_axes_of_model<M, ranks::mesh<Axes...>> =
    nn::detail::has_walked_parameters<M>() && is_subset<mesh_axes_of_model_t<M>, list<Axes...>> && names_its_stages<M>;
template <class Op, class M, class Mesh>
struct judged_norm_over : judged_norm<Op, M> {};
template <class Op, class M, class... Axes>
  requires(nn::detail::has_walked_parameters<M>() && !names_its_stages<M>)
struct judged_norm_over<Op, M, ranks::mesh<Axes...>> {
  using type = ERROR_R25_model_names_no_axis_of_stages<Op, over<M>>;
};
template <class Op, class M, class... Axes>
  requires(nn::detail::has_walked_parameters<M>() && names_its_stages<M>)
struct judged_norm_over<Op, M, ranks::mesh<Axes...>> {
  using type = ERROR_R25_mesh_has_no_such_axis<Op, over_t<difference_t<mesh_axes_of_model_t<M>, list<Axes...>>>,
                                               ranks::mesh<Axes...>>;
};

}  // namespace detail

namespace no_adl {

/// √(the sum of the squares of all parameters of `m`) in float64, where each element of a parameter that ranks divide
/// counts once, and a whole parameter once and not once for each rank. Of one stage of a pipeline it is the norm of the
/// parameters of all stages. All ranks of the mesh call it. Rejects a mesh without an axis that divides a parameter
/// (R25).
template <class M, class... Axes>
  requires detail::has_axes_of_model<M, ranks::mesh<Axes...>>
[[nodiscard]] double norm_of(const M& m, const ranks::mesh<Axes...>& mesh) {
  const auto axes = detail::communicators_of(mesh);
  const detail::scaled_norm norm = ranks::detail::taking_part_in(
      mesh, "norm_of", [&] { return detail::norm_over_ranks(detail::parameter_list(m), axes.data(), axes.size()); });
  return std::ldexp(norm.rest, norm.exponent);
}
/// `gradient` times min(1, limit / (norm + 1e-6)) by this norm: the same factor on all ranks.
template <class M, class... Axes>
  requires detail::has_axes_of_model<M, ranks::mesh<Axes...>>
[[nodiscard]] M clip_norm(M gradient, double limit, const ranks::mesh<Axes...>& mesh) {
  const auto axes = detail::communicators_of(mesh);
  const detail::parameter_list all(gradient);
  ranks::detail::taking_part_in(mesh, "clip_norm", [&] {
    if (!(limit >= 0)) { detail::throw_number("clip_norm", "the limit", limit, "number of 0 or more"); }
    detail::clip_parameters(all, limit, detail::norm_over_ranks(all, axes.data(), axes.size()));
  });
  return gradient;
}
template <class M, class... Axes,
          class Error = typename detail::judged_norm_over<op::norm_of, M, ranks::mesh<Axes...>>::type>
  requires(!detail::has_axes_of_model<M, ranks::mesh<Axes...>>)
Error norm_of(const M& m, const ranks::mesh<Axes...>& mesh);
template <class M, class... Axes,
          class Error = typename detail::judged_norm_over<op::clip_norm, M, ranks::mesh<Axes...>>::type>
  requires(!detail::has_axes_of_model<M, ranks::mesh<Axes...>>)
Error clip_norm(const M& gradient, double limit, const ranks::mesh<Axes...>& mesh);

}  // namespace no_adl

}  // namespace dimwise

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/ranks/training/gradients_definitions.hpp>
#endif

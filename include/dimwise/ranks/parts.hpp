// SPDX-License-Identifier: BSL-1.0
// dimwise/ranks/parts.hpp -- this rank's part of a whole tensor: initial weights that one rank would draw.
//
// Layer: ranks. No messages: every rank has the whole tensor.
// Tests: tests/ranks/training/training.test.cpp, tests/compile_fail/ranks/
//
//   tensor up = part_of<hidden_here>(random_normal<float, d_model, hidden>(random_seed{1}), mesh);
#pragma once

#include <dimwise/ranks/collectives.hpp>
#include <dimwise/ranks/mesh.hpp>
#include <dimwise/ranks/messages/shared_rows.hpp>

namespace dimwise {

namespace op {
struct part_of;
}  // namespace op

namespace detail {

template <class S, class Shape, class Mesh>
consteval auto judge_part_of() {
  if constexpr (!is_shard<S>) {
    return answer<ERROR_R24_operand_has_no_such_shard<op::part_of, over<S>, operand_t<Shape>>>{};
  } else {
    using D = typename S::shard_of;
    using M = typename S::shard_along;
    using naming = naming_objection_t<op::part_of, list<D>, Shape>;
    if constexpr (!std::is_same_v<naming, nothing>) {
      return answer<naming>{};
    } else if constexpr (!Mesh::template has<M>) {
      return answer<ERROR_R25_mesh_has_no_such_axis<op::part_of, over<M>, Mesh>>{};
    } else if constexpr (is_divided_along<M, Shape> || is_partial_along<M, Shape>) {
      return answer<ERROR_R25_mesh_axis_occurs_twice<op::part_of, over<M>, operand_t<Shape>>>{};
    } else {
      return answer<accepted<make_shape_t<replace_t<dims_t<Shape>, D, list<S>>, marks_t<stored_t<Shape>>>>>{};
    }
  }
}
template <class S, class Shape, class Mesh>
using part_of_verdict = typename decltype(judge_part_of<S, Shape, Mesh>())::type;

template <class Result, class S, class X>
auto part_of_rank_along(const X& x, const ranks::communicator& along) {
  using T = value_of<X>;
  using D = typename S::shard_of;
  using given = shape_of<X>;
  const tensor_in_order<T, first_of_dims<D, given>, given> whole(x);
  const std::size_t n = whole.extents().template extent<D>();
  const std::size_t row = n == 0 ? 0 : whole.size() / n;
  const shared_rows rows = rows_of_whole<S>(whole.extents(), along.size());
  using in_front = make_shape_t<first_of_dims<S, Result>, marks_t<stored_t<Result>>>;
  const S part = part_of_whole<S>(whole.extents(), along.rank(), along.size());
  auto here = tensor_of<T, in_front>::for_overwriting(
      extents_with<in_front, S, given, D>(whole.extents(), {part.extent(), part.given_origin()}, "part_of"));
  take_rows(rows, row, along.rank(), whole.data(), here.overwrite());
  return tensor_of<T, stored_t<Result>>(here);
}

}  // namespace detail

namespace no_adl {

/// This rank's part of a tensor that all ranks have: [D, rest] -> [shard<D, M>, rest], blocks or stripes. So ranks
/// divide weights that one rank would draw. Rejects a dimension that the operand lacks (R1), a mesh without M, and a
/// second dimension along M (R25).
template <class S, operand X, class... Axes,
          class Verdict = detail::part_of_verdict<S, detail::shape_of<X>, ranks::mesh<Axes...>>>
  requires allowed<Verdict>
[[nodiscard]] auto part_of(const X& x, const ranks::mesh<Axes...>& mesh) {
  return detail::part_of_rank_along<typename Verdict::shape, S>(x, mesh.template along<typename S::shard_along>());
}
template <class S, operand X, class... Axes,
          class Verdict = detail::part_of_verdict<S, detail::shape_of<X>, ranks::mesh<Axes...>>>
  requires refused<Verdict>
Verdict part_of(const X& x, const ranks::mesh<Axes...>& mesh);

}  // namespace no_adl

}  // namespace dimwise

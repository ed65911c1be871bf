// SPDX-License-Identifier: BSL-1.0
// dimwise/shape/rules/mask.hpp -- the rules of masks and biases: what they relate, what they serve, where they go.
//
// Layer: shape.
//
//   masked(s, m), biased(s, b):  [s] x [subset of s, more parallel dimensions]  ->  [s, those parallel dimensions]
//
// R4, R5, R6, R7, R19. Tests: tests/shape/mask.test.cpp, tests/compile_fail/mask/
#pragma once

#include <dimwise/shape/verdict.hpp>

namespace dimwise {

namespace detail {

// What a mask is to the rules: the dimensions it has, those that a following softmax may have, and whether it keeps
// packed documents apart.
template <class Dims, class For, bool Documents>
struct mask_facts {
  using dims = Dims;
  using serves = For;
  static constexpr bool documents = Documents;
};

template <class Old, class New>
struct narrowed {
  using type = intersection_t<Old, New>;
};
template <class New>
struct narrowed<list<>, New> {
  using type = New;
};

template <class Marks>
struct without_masked {
  template <class... M>
  static auto keep(list<M...>) -> join_t<list_if<mark_order<M> != mark_order<masked_for<>>, M>...>;
  using type = decltype(keep(Marks{}));
};

template <class Op, class Shape, class MaskDims, class Serves, bool Documents, bool IsMask>
consteval auto judge_masking() {
  using extra = difference_t<MaskDims, dims_t<Shape>>;
  using before = marked_t<masked_for, marks_t<Shape>>;
  // A bias given as a tensor serves whatever follows: the dimensions stay as they were.
  using serves = typename std::conditional_t<IsMask, narrowed<before, Serves>, std::type_identity<before>>::type;
  using S = lhs_t<Shape>;
  using M = over_t<MaskDims>;
  if constexpr (weighing_t<Shape>::size > 0) {
    return answer<ERROR_R7_masking_comes_before_softmax<Op, S, M>>{};
  } else if constexpr (!is_disjoint<axes_of_list_t<extra>, axes_of_list_t<dims_t<Shape>>> || !all_distinct(axes_of_list_t<MaskDims>{})) {
    return answer<ERROR_R4_composite_has_other_factors_or_order<Op, S, M>>{};
  } else if constexpr (!where<axes_of_list_t<extra>>::all_parallel || (IsMask && !is_subset<Serves, dims_t<Shape>>)) {
    return answer<ERROR_R7_mask_has_dimensions_that_the_scores_lack<Op, S, M>>{};
  } else if constexpr (!is_disjoint<marked_t<indexed, marks_t<Shape>>, MaskDims>) {
    return answer<ERROR_R18_indexed_meets_its_dimension<Op, S, M>>{};
  } else if constexpr (refuses_mark<Op, Shape>) {
    return answer<refused_mark_t<Op, Shape, S, M>>{};
  } else if constexpr ((before::size > 0 || IsMask) && serves::size == 0) {
    return answer<ERROR_R7_masks_serve_no_common_dimension<Op, S, M>>{};
  } else {
    constexpr bool mixes_documents = IsMask && !Documents && before::size == 0 && where<axes_of_list_t<serves>>::packed::size > 0;
    using dims = join_t<dims_t<Shape>, extra>;
    using marks = typename without_masked<marks_t<Shape>>::type;
    if constexpr (!mixes_documents) {
      return answer<accepted<make_shape_t<dims, join_t<marks, typename mark_over<masked_for, sorted_t<serves>>::type>>>>{};
    } else if constexpr (std::is_same_v<Op, op::biased>) {
      // A bias hides nothing: the mask of documents may still come, and says then what it serves.
      return answer<accepted<make_shape_t<dims, marks>>>{};
    } else {
      return answer<ERROR_R19_packed_positions_need_their_documents<Op, S, M>>{};
    }
  }
}

// A bias given as a tensor: its own marks count too, and it serves no dimension in particular.
template <class Shape, class Bias>
consteval auto judge_biased() {
  if constexpr (refuses_mark<op::biased, Bias>) {
    return answer<refused_mark_t<op::biased, Bias, lhs_t<Shape>, rhs_t<Bias>>>{};
  } else if constexpr (!is_disjoint<marked_t<indexed, marks_t<Bias>>, dims_t<Shape>>) {
    return answer<ERROR_R18_indexed_meets_its_dimension<op::biased, lhs_t<Shape>, rhs_t<Bias>>>{};
  } else {
    return judge_masking<op::biased, Shape, dims_t<Bias>, list<>, false, false>();
  }
}

}  // namespace detail

namespace rule {

/// `Facts` is what the mask is to the rules: `mask_facts<dims, serves, documents>`.
template <class Shape, class Facts>
using masked = typename decltype(detail::judge_masking<op::masked, Shape, typename Facts::dims, typename Facts::serves, Facts::documents, true>())::type;
/// A bias made from positions, whose key side is the dimension that a following softmax may have.
template <class Shape, class Facts>
using position_biased =
    typename decltype(detail::judge_masking<op::biased, Shape, typename Facts::dims, typename Facts::serves, Facts::documents, true>())::type;
template <class Shape, class Bias>
using biased = typename decltype(detail::judge_biased<Shape, Bias>())::type;

}  // namespace rule
}  // namespace dimwise

// SPDX-License-Identifier: BSL-1.0
// dimwise/shape/rules/mask.hpp -- the rules of masks and biases: what they relate, what they serve, where they go.
//
// Layer: shape.
//
//   masked(s, m), biased(s, b):  [s] x [subset of s, more parallel dimensions]  ->  [s, those parallel dimensions]
//
// A mask may have one part of a sum, summed<P, Q>: the other parts stay visible.
//
// R4, R5, R6, R7, R18, R19.
// Tests: tests/shape/rules/mask.test.cpp, tests/compile_fail/mask/
#pragma once

#include <dimwise/shape/verdict.hpp>

namespace dimwise {

/// In an error: what a mask of whole rows serves, every dimension of the scores but its own.
template <class... D>
struct any_but {};

namespace detail {

// What a mask or bias is to the rules: the dimensions it has, those that a following softmax may have, whether it keeps
// packed documents apart, and the dimensions of which `at` took one element.
template <class Dims, class For, bool Documents, class Taken = list<>>
struct mask_facts {
  using dims = Dims;
  using serves = For;
  static constexpr bool documents = Documents;
  using taken = Taken;
  using shape = make_shape_t<Dims, typename indexed_list<Taken>::type>;
};
template <class Shape>
using taken_t = marked_t<indexed, marks_t<Shape>>;
// A bias given as a tensor.
template <class Bias>
using bias_facts_of = mask_facts<dims_t<Bias>, typename filter<dims_t<Bias>>::alternatives, false, taken_t<Bias>>;

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

// What it serves of some dimensions: those that it names, or all that hold alternatives but its own.
template <class Serves, class Dims>
struct served_of {
  static constexpr bool named = Serves::size > 0;
  using type = intersection_t<Serves, Dims>;
};
template <class... D, class Dims>
struct served_of<list<any_but<D...>>, Dims> {
  static constexpr bool named = false;
  using type = typename filter<difference_t<Dims, list<D...>>>::alternatives;
};
// What it serves of the operand: parallel dimensions that it adds are no alternatives there.
template <class Shape, class Facts>
using served_here = typename served_of<typename Facts::serves, dims_t<Shape>>::type;

// What two masks together serve.
template <class A, class B>
struct served_together {
  using type = intersection_t<A, B>;
};
template <class... D, class B>
struct served_together<list<any_but<D...>>, B> {
  using type = difference_t<B, list<D...>>;
};
template <class A, class... D>
struct served_together<A, list<any_but<D...>>> {
  using type = difference_t<A, list<D...>>;
};
template <class Dims>
struct any_but_list;
template <class... D>
struct any_but_list<list<D...>> {
  using type = list<any_but<D...>>;
};
template <class... D, class... E>
struct served_together<list<any_but<D...>>, list<any_but<E...>>> : any_but_list<union_t<list<D...>, list<E...>>> {};

// ---- a mask of one part of a sum ----

// The sums among some dimensions of which D is a part.
template <class D, class Dims>
struct sums_with;
template <class D, class... S>
struct sums_with<D, list<S...>> {
  using type = join_t<list_if<is_part_of<D, S>, S>...>;
};
// D and its sum, as `part_of_sum`, where D is a part of one of some dimensions; they have no axis D of their own.
template <class D, class Sum>
struct part_of_sum {};
template <class D, class Dims>
consteval auto find_sum() {
  using sums = typename sums_with<D, Dims>::type;
  if constexpr (sums::size != 1 || is_in<D, Dims>) {
    return answer<list<>>{};
  } else {
    return answer<list<part_of_sum<D, first_t<sums>>>>{};
  }
}
template <class MaskDims, class Dims>
struct parts_of_sums;
template <class... D, class Dims>
struct parts_of_sums<list<D...>, Dims> {
  using type = join_t<typename decltype(find_sum<D, Dims>())::type...>;
};

template <class Serves, class D, class Sum>
struct served_in_sum {
  using type = replace_t<Serves, D, list<Sum>>;
};
template <class... E, class D, class Sum>
struct served_in_sum<list<any_but<E...>>, D, Sum> {
  using type = typename any_but_list<replace_t<list<E...>, D, list<Sum>>>::type;
};
// The facts of a mask of the part D over the whole sum, whose other parts it leaves visible. It keeps documents apart
// where no other part has some.
template <class Facts, class D, class Sum>
using facts_in_sum =
    mask_facts<replace_t<typename Facts::dims, D, list<Sum>>,
               typename served_in_sum<typename Facts::serves, D, Sum>::type,
               Facts::documents && (filter<kinds_of_list_t<list<Sum>>>::packed::size < 2), typename Facts::taken>;

// What a mask is over the dimensions of what it masks: a mask of one part of a sum is one of the sum.
template <class Shape, class Facts>
consteval auto find_facts_over() {
  using dims = typename Facts::dims;
  using parts = typename parts_of_sums<difference_t<dims, dims_t<Shape>>, dims_t<Shape>>::type;
  if constexpr (parts::size != 1) {
    return answer<Facts>{};
  } else {
    return []<class D, class Sum>(list<part_of_sum<D, Sum>>) {
      if constexpr (is_in<Sum, dims>) {
        return answer<Facts>{};
      } else {
        return answer<facts_in_sum<Facts, D, Sum>>{};
      }
    }(parts{});
  }
}
template <class Shape, class Facts>
using facts_over_t = typename decltype(find_facts_over<Shape, Facts>())::type;

// What masks and biases have in common. `nothing` means: no objection.
template <class Op, class Shape, class Facts>
consteval auto meeting_objection() {
  using dims = typename Facts::dims;
  using serves = typename Facts::serves;
  using extra = difference_t<dims, dims_t<Shape>>;
  using S = lhs_t<Shape>;
  using M = over_t<dims>;
  if constexpr (weighing_t<Shape>::size > 0) {
    return answer<ERROR_R7_masking_comes_before_softmax<Op, S, M>>{};
  } else if constexpr (!is_disjoint<axes_of_list_t<extra>, axes_of_list_t<dims_t<Shape>>> ||
                       !all_distinct(axes_of_list_t<dims>{})) {
    return answer<ERROR_R4_composite_has_other_factors_or_order<Op, S, M>>{};
  } else if constexpr (!filter<axes_of_list_t<extra>>::all_parallel ||
                       (served_of<serves, dims_t<Shape>>::named && served_here<Shape, Facts>::size == 0)) {
    return answer<ERROR_R7_mask_has_dimensions_that_the_scores_lack<Op, S, M>>{};
  } else if constexpr (indexed_meets<Shape, typename Facts::shape>) {
    return answer<ERROR_R18_single_element_meets_its_whole_dimension<Op, S, rhs_t<typename Facts::shape>>>{};
  } else if constexpr (refuses_mark<Op, Shape>) {
    return answer<refused_mark_t<Op, Shape, S, M>>{};
  } else {
    return answer<nothing>{};
  }
}
template <class Op, class Shape, class Facts>
using meeting_objection_t = typename decltype(meeting_objection<Op, Shape, Facts>())::type;

// The shape of both: the operand's dimensions, then the parallel ones that the mask or bias adds.
template <class Shape, class Facts, class Marks>
using met_t = make_shape_t<join_t<dims_t<Shape>, difference_t<typename Facts::dims, dims_t<Shape>>>,
                           join_t<Marks, typename indexed_list<typename Facts::taken>::type>>;

template <class Shape, class OwnFacts>
consteval auto judge_masked() {
  using Facts = facts_over_t<Shape, OwnFacts>;
  using objection = meeting_objection_t<op::masked, Shape, Facts>;
  using before = marked_t<masked_for, marks_t<Shape>>;
  using serves = typename narrowed<before, served_here<Shape, Facts>>::type;
  using S = lhs_t<Shape>;
  using M = over_t<typename Facts::dims>;
  if constexpr (!std::is_same_v<objection, nothing>) {
    return answer<objection>{};
  } else if constexpr (serves::size == 0) {
    return answer<ERROR_R7_masks_serve_no_common_dimension<op::masked, S, M>>{};
  } else if constexpr (!Facts::documents && before::size == 0 && filter<kinds_of_list_t<serves>>::packed::size > 0) {
    return answer<ERROR_R19_packed_positions_need_their_documents<op::masked, S, M>>{};
  } else {
    using marks =
        join_t<typename without_masked<marks_t<Shape>>::type, typename mark_over<masked_for, sorted_t<serves>>::type>;
    return answer<accepted<met_t<Shape, Facts, marks>>>{};
  }
}

// A bias hides nothing, so it needs no documents; a softmax over a dimension that it lacks would not see it.
template <class Shape, class Facts>
consteval auto judge_bias() {
  using objection = meeting_objection_t<op::biased, Shape, Facts>;
  using serves = served_here<Shape, Facts>;
  if constexpr (!std::is_same_v<objection, nothing>) {
    return answer<objection>{};
  } else if constexpr (serves::size == 0) {
    return answer<ERROR_R7_bias_is_the_same_for_all_that_softmax_goes_over<op::biased, lhs_t<Shape>,
                                                                           rhs_t<typename Facts::shape>>>{};
  } else {
    return answer<accepted<
        met_t<Shape, Facts, join_t<marks_t<Shape>, typename mark_over<biased_for, sorted_t<serves>>::type>>>>{};
  }
}

// A bias given as a tensor: its own marks count too. The mark of a masked bias would end here: the scores are masked.
template <class Shape, class Bias>
consteval auto judge_biased() {
  if constexpr (any_masked<Bias>) {
    return answer<ERROR_R7_bias_is_masked_instead_of_the_scores<op::biased, lhs_t<Shape>, rhs_t<Bias>>>{};
  } else if constexpr (refuses_mark<op::biased, Bias>) {
    return answer<refused_mark_t<op::biased, Bias, lhs_t<Shape>, rhs_t<Bias>>>{};
  } else {
    return judge_bias<Shape, bias_facts_of<Bias>>();
  }
}

}  // namespace detail

namespace rule {

/// `Facts` is what the mask is to the rules: `mask_facts<dims, serves, documents, taken>`.
template <class Shape, class Facts>
using masked = typename decltype(detail::judge_masked<Shape, Facts>())::type;
/// A bias made from positions, whose key side is the dimension that a following softmax may have.
template <class Shape, class Facts>
using position_biased = typename decltype(detail::judge_bias<Shape, Facts>())::type;
template <class Shape, class Bias>
using biased = typename decltype(detail::judge_biased<Shape, Bias>())::type;

}  // namespace rule
}  // namespace dimwise

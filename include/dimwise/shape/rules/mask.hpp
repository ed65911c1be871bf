// SPDX-License-Identifier: BSL-1.0
// dimwise/shape/rules/mask.hpp -- the rules of masks and biases: which operands they fit, and which softmax may follow.
//
// Layer: shape.
//
//   masked(s, m), biased(s, b):  [s] x [subset of s, more parallel dimensions]  ->  [s, those parallel dimensions]
//
// A mask or bias *serves* the dimensions that a following softmax may normalise over. The result has them in the mark
// masked_for<D...> or biased_for<D...>, which the rule of softmax reads:
//
//   causal<seq, key>                serves key
//   padding<key>(lengths)           serves key
//   whole_rows(padding<seq>(n))     serves every dimension of the scores but seq
//   two masks                       serve what both serve
//
// Rejects R4, R5, R6, R7, R18, R19.
// Tests: tests/shape/rules/mask.test.cpp, tests/compile_fail/mask/
#pragma once

#include <dimwise/shape/rules/placed.hpp>
#include <dimwise/shape/verdict.hpp>

namespace dimwise {

/// The dimensions that a mask of whole rows serves: every dimension of the scores except D.
template <class... D>
struct any_but {};

namespace detail {

// All that the rules know of a mask or bias: its dimensions, the dimensions that it serves, whether it keeps packed
// documents apart, and the dimensions of which `at` took one element.
template <class Dims, class Serves, bool Documents, class Taken = list<>>
struct mask_facts {
  using dims = Dims;
  using serves = Serves;
  static constexpr bool documents = Documents;
  using taken = Taken;
  using shape = make_shape_t<Dims, typename indexed_list<Taken>::type>;
};
template <class Shape>
using taken_t = marked_t<indexed, marks_t<Shape>>;
// A bias given as a tensor serves each of its dimensions that has alternatives.
template <class Bias>
using bias_facts_of = mask_facts<dims_t<Bias>, typename alternatives_in<dims_t<Bias>>::type, false, taken_t<Bias>>;

// ---- the dimensions that a mask serves ----

// The dimensions among Dims that a mask serves: those that it names, or all with alternatives but its own.
template <class Serves, class Dims>
struct served_of {
  static constexpr bool named = Serves::size > 0;
  using type = intersection_t<Serves, Dims>;
};
template <class... D, class Dims>
struct served_of<list<any_but<D...>>, Dims> {
  static constexpr bool named = false;
  using type = typename alternatives_in<difference_t<Dims, list<D...>>>::type;
};
// The dimensions of the operand that a mask serves; not the parallel dimensions that it adds.
template <class Shape, class Facts>
using served_here = typename served_of<typename Facts::serves, dims_t<Shape>>::type;

// The dimensions that two masks together serve.
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

// ---- a mask of one part of a summed dimension ----
//
// Scores over summed<P, Q> accept a mask of P: the keys of Q stay visible. The rules read it as a mask of summed<P, Q>.

// The summed dimensions among Dims that have the part D.
template <class D, class Dims>
struct sums_with;
template <class D, class... S>
struct sums_with<D, list<S...>> {
  using type = join_t<list_if<is_part_of<D, S>, S>...>;
};
template <class D, class Sum>
struct part_of_sum {};
// D with the one summed dimension that has it, unless D is itself among Dims.
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
// The facts of a mask of the part D, as a mask of the whole sum. It keeps documents apart only if no other part has
// documents.
template <class Facts, class D, class Sum>
using facts_in_sum =
    mask_facts<replace_t<typename Facts::dims, D, list<Sum>>,
               typename served_in_sum<typename Facts::serves, D, Sum>::type,
               Facts::documents && (filter<kinds_of_list_t<list<Sum>>>::packed < 2), typename Facts::taken>;

// The facts of a mask for an operand of this shape.
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

// ---- the rules ----

// The error that masks and biases share; `nothing` if there is none.
template <class Op, class Shape, class Facts>
consteval auto shared_objection() {
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
using shared_objection_t = typename decltype(shared_objection<Op, Shape, Facts>())::type;

// The shape of the result: the dimensions of the operand, then the parallel ones that the mask or bias adds.
template <class Shape, class Facts, class Marks>
using result_with_t = make_shape_t<join_t<dims_t<Shape>, difference_t<typename Facts::dims, dims_t<Shape>>>,
                                   join_t<Marks, typename indexed_list<typename Facts::taken>::type>>;

// The dimensions that the masks of an operand serve after one more mask.
template <class Before, class New>
struct served_after {
  using type = intersection_t<Before, New>;
};
template <class New>
struct served_after<list<>, New> {
  using type = New;
};

template <class Marks>
struct without_masked {
  template <class... M>
  static auto keep(list<M...>) -> join_t<list_if<mark_order<M> != mark_order<masked_for<>>, M>...>;
  using type = decltype(keep(Marks{}));
};

template <class Shape, class OwnFacts>
consteval auto judge_masked() {
  using Facts = facts_over_t<Shape, OwnFacts>;
  using objection = shared_objection_t<op::masked, Shape, Facts>;
  using before = marked_t<masked_for, marks_t<Shape>>;
  using serves = typename served_after<before, served_here<Shape, Facts>>::type;
  using S = lhs_t<Shape>;
  using M = over_t<typename Facts::dims>;
  if constexpr (!std::is_same_v<objection, nothing>) {
    return answer<objection>{};
  } else if constexpr (serves::size == 0) {
    return answer<ERROR_R7_masks_serve_no_common_dimension<op::masked, S, M>>{};
  } else if constexpr (!Facts::documents && before::size == 0 && filter<kinds_of_list_t<serves>>::packed > 0) {
    return answer<ERROR_R19_packed_positions_need_their_documents<op::masked, S, M>>{};
  } else {
    using marks =
        join_t<typename without_masked<marks_t<Shape>>::type, typename mark_over<masked_for, sorted_t<serves>>::type>;
    return answer<accepted<result_with_t<Shape, Facts, marks>>>{};
  }
}

// Unlike a mask, a bias hides no keys, so packed positions do not require documents. It must have a dimension that
// softmax may normalise over: softmax cancels a bias that is the same for all its elements.
template <class Shape, class Facts>
consteval auto judge_bias() {
  using objection = shared_objection_t<op::biased, Shape, Facts>;
  using serves = served_here<Shape, Facts>;
  if constexpr (!std::is_same_v<objection, nothing>) {
    return answer<objection>{};
  } else if constexpr (serves::size == 0) {
    return answer<ERROR_R7_bias_is_the_same_for_all_that_softmax_goes_over<op::biased, lhs_t<Shape>,
                                                                           rhs_t<typename Facts::shape>>>{};
  } else {
    return answer<accepted<
        result_with_t<Shape, Facts, join_t<marks_t<Shape>, typename mark_over<biased_for, sorted_t<serves>>::type>>>>{};
  }
}

// A bias given as a tensor has marks. A masked bias is rejected, because the result would lose its mark.
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

/// The verdict on `masked(s, m)` for scores of this shape and a mask with these `mask_facts`.
template <class Shape, class Facts>
using masked =
    detail::on_ranks<op::masked, detail::of_one, detail::list<>, decltype(detail::judge_masked<Shape, Facts>()), Shape>;
/// The verdict on `biased(s, b)` for a bias made from positions, such as `alibi<Q, K, H>`: it serves K.
template <class Shape, class Facts>
using position_biased =
    detail::on_ranks<op::biased, detail::of_one, detail::list<>, decltype(detail::judge_bias<Shape, Facts>()), Shape>;
/// The verdict on `biased(s, b)` for a bias given as a tensor of shape Bias.
template <class Shape, class Bias>
using biased = detail::on_ranks<op::biased, detail::of_sum, detail::list<>,
                                decltype(detail::judge_biased<Shape, Bias>()), Shape, Bias>;

}  // namespace rule
}  // namespace dimwise

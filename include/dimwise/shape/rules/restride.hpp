// SPDX-License-Identifier: BSL-1.0
// dimwise/shape/rules/restride.hpp -- the rules of operations that change names, order or grouping but no element.
//
// Layer: shape.
//
//   rename<seq, key>, relabel<a, b>, permute<…>, split<heads, d_k>, merge<heads, d_v>, part<p>, diagonal<a, b>,
//   broadcast<d>
//
// R1, R3, R4, R14, R17.
// Tests: tests/shape/rules/restride.test.cpp, tests/compile_fail/restride/
#pragma once

#include <dimwise/shape/rules/placed.hpp>
#include <dimwise/shape/verdict.hpp>

namespace dimwise {

namespace detail {

template <class Marks, class Old, class New>
struct rename_marks;
template <class... M, class Old, class New>
struct rename_marks<list<M...>, Old, New> {
  // One element of `New` taken before is another dimension's matter now that the name has a meaning again.
  using type = join_t<list_if<!std::is_same_v<M, indexed<New>>, typename rename_in_mark<M, Old, New>::type>...>;
};

// Renames the positions of a rotation as well, unless the new name is a prime of the old one.
template <class Marks, class From, class To>
struct relabel_rotations;
template <class... M, class From, class To>
struct relabel_rotations<list<M...>, From, To> {
  template <class Mark>
  struct one {
    using type = Mark;
  };
  template <class F, class P>
  struct one<rotated<F, P>> {
    using type = rotated<F, either_t<std::is_same_v<P, unprimed_t<From>>, unprimed_t<To>, P>>;
  };
  using type = list<typename one<M>::type...>;
};

template <class Op, class From, class To, class Shape>
consteval auto judge_rename() {
  using dims = dims_t<Shape>;
  using O = over<about_t<From>, about_t<To>>;
  if constexpr (!is_in<From, dims>) {
    return answer<missing_t<Op, list<From>, Shape>>{};
  } else if constexpr (std::is_same_v<Op, op::rename> && !related<From, To>) {
    return answer<ERROR_R3_rename_goes_between_a_dimension_and_its_prime_or_out<Op, O, operand_t<Shape>>>{};
  } else if constexpr (extents_differ<From, To>) {
    return answer<ERROR_R3_extents_differ<Op, O, operand_t<Shape>>>{};
  } else if constexpr (is_composite<To> && To::static_extent == at_run_time) {
    // The extent of one dimension does not determine several.
    return answer<ERROR_R4_composite_has_other_factors_or_order<Op, O, operand_t<Shape>>>{};
  } else {
    using result = replace_t<dims, From, list<To>>;
    if constexpr (!all_distinct(axes_of_list_t<result>{})) {
      return answer<ERROR_R17_dimension_occurs_twice<Op, O, operand_t<Shape>>>{};
    } else {
      using renamed = typename rename_marks<marks_t<Shape>, From, To>::type;
      return answer<accepted<make_shape_t<result, typename relabel_rotations<renamed, From, To>::type>>>{};
    }
  }
}

template <class Order, class Shape>
consteval auto judge_permute() {
  using naming = naming_objection_t<op::permute, Order, Shape>;
  if constexpr (!std::is_same_v<naming, nothing>) {
    return answer<naming>{};
  } else if constexpr (difference_t<dims_t<Shape>, Order>::size > 0) {
    return answer<ERROR_R1_dimension_is_not_in_the_operand<op::permute, over_t<Order>, operand_t<Shape>>>{};
  } else {
    return answer<accepted<make_shape_t<Order, marks_t<Shape>>>>{};
  }
}

template <class Composite, class Factors, class Shape>
consteval auto judge_split() {
  using dims = dims_t<Shape>;
  if constexpr (!is_in<Composite, dims>) {
    return answer<ERROR_R4_composite_has_other_factors_or_order<op::split, over_t<Factors>, operand_t<Shape>>>{};
  } else {
    return answer<accepted<make_shape_t<replace_t<dims, Composite, Factors>, marks_t<Shape>>>>{};
  }
}

template <class Composite, class Factors, class Shape>
consteval auto judge_merge() {
  using naming = naming_objection_t<op::merge, Factors, Shape>;
  if constexpr (!std::is_same_v<naming, nothing>) {
    return answer<naming>{};
  } else {
    // The composite replaces its first factor.
    using first = first_t<Factors>;
    using rest = difference_t<Factors, list<first>>;
    using result = replace_t<difference_t<dims_t<Shape>, rest>, first, list<Composite>>;
    return answer<accepted<make_shape_t<result, marks_t<Shape>>>>{};
  }
}

// Removes or weakens marks over a dimension that is no longer whole: its parts do not sum to one.
template <class Marks, class D>
struct cut_marks {
  template <class M>
  static consteval auto one() {
    if constexpr (mark_order<M> == mark_order<normalised<>> && is_in<D, mark_dims_t<M>>) {
      return typename weakened<M>::type{};
    } else {
      return list_if<mark_order<M> != mark_order<log_normalised<>> || !is_in<D, mark_dims_t<M>>, M>{};
    }
  }
  template <class... M>
  static auto all(list<M...>) -> join_t<decltype(one<M>())...>;
  using type = decltype(all(Marks{}));
};

// A part does not have the rotations of the other parts.
template <class Marks, class Others>
struct without_rotations {
  template <class M>
  static constexpr bool ends = mark_order<M> == mark_order<rotated<>> && is_subset<mark_dims_t<M>, Others>;
  template <class... M>
  static auto keep(list<M...>) -> join_t<list_if<!ends<M>, M>...>;
  using type = decltype(keep(Marks{}));
};

template <class P, class Dims>
struct sum_with {
  using type = void;
};
template <class P, class... Parts, class... Rest>
struct sum_with<P, list<summed<Parts...>, Rest...>>
    : either_t<is_any_of<P, Parts...>, std::type_identity<summed<Parts...>>, sum_with<P, list<Rest...>>> {};
template <class P, class First, class... Rest>
struct sum_with<P, list<First, Rest...>> : sum_with<P, list<Rest...>> {};

template <class P, class Shape>
consteval auto judge_part() {
  using whole = typename sum_with<P, dims_t<Shape>>::type;
  if constexpr (std::is_void_v<whole>) {
    return answer<ERROR_R14_part_is_taken_from_a_summed_dimension<op::part, over<about_t<P>>, operand_t<Shape>>>{};
  } else {
    using result = replace_t<dims_t<Shape>, whole, list<P>>;
    if constexpr (!all_distinct(axes_of_list_t<result>{})) {
      return answer<ERROR_R17_dimension_occurs_twice<op::part, over<about_t<P>>, operand_t<Shape>>>{};
    } else {
      // As with a slice: what summed to one over the whole is a product with weights now, over the part.
      using others = difference_t<difference_t<atoms_t<whole>, atoms_t<P>>, result>;
      using cut = typename cut_marks<typename without_rotations<marks_t<Shape>, others>::type, whole>::type;
      return answer<accepted<make_shape_t<result, typename rename_marks<cut, whole, P>::type>>>{};
    }
  }
}

// The marks without those that only D gives a meaning. Masked elements stay masked: a mask over D serves no remaining
// dimension (R7).
template <class Marks, class D>
struct marks_without {
  template <class M>
  static constexpr bool ends = is_in<D, mark_dims_t<M>> &&
                               (mark_order<M> == mark_order<normalised<>> || mark_order<M> == mark_order<weighted<>> ||
                                mark_order<M> == mark_order<log_normalised<>> ||
                                mark_order<M> == mark_order<rotated<>> || mark_order<M> == mark_order<biased_for<>>);
  template <class... M>
  static auto all(list<M...>) -> join_t<list_if<!ends<M>, M>...>;
  using type = decltype(all(Marks{}));
};

template <class A, class B, class Shape>
consteval auto judge_diagonal() {
  using naming = naming_objection_t<op::diagonal, list<A, B>, Shape>;
  if constexpr (!std::is_same_v<naming, nothing>) {
    return answer<naming>{};
  } else if constexpr (extents_differ<A, B>) {
    return answer<ERROR_R3_extents_differ<op::diagonal, over<about_t<A>, about_t<B>>, operand_t<Shape>>>{};
  } else {
    return answer<
        accepted<make_shape_t<difference_t<dims_t<Shape>, list<B>>,
                              typename marks_without<typename marks_without<marks_t<Shape>, B>::type, A>::type>>>{};
  }
}

template <class Marks, class D>
struct without_indexed {
  template <class... M>
  static auto keep(list<M...>) -> join_t<list_if<!std::is_same_v<M, indexed<D>>, M>...>;
  using type = decltype(keep(Marks{}));
};

template <class D, class Shape>
consteval auto judge_broadcast() {
  using dims = join_t<list<D>, dims_t<Shape>>;
  if constexpr (is_composite<D>) {
    return answer<ERROR_R4_composite_has_other_factors_or_order<op::broadcast, over<about_t<D>>, operand_t<Shape>>>{};
  } else if constexpr (!all_distinct(axes_of_list_t<dims>{})) {
    return answer<ERROR_R17_dimension_occurs_twice<op::broadcast, over<about_t<D>>, operand_t<Shape>>>{};
  } else {
    return answer<accepted<make_shape_t<dims, typename without_indexed<marks_t<Shape>, D>::type>>>{};
  }
}

template <class Shape, class Like>
consteval auto judge_broadcast_like() {
  using dims = union_t<dims_t<Shape>, dims_t<Like>>;
  if constexpr (!all_distinct(axes_of_list_t<dims>{})) {
    return answer<ERROR_R4_composite_has_other_factors_or_order<op::broadcast_like, lhs_t<Shape>, rhs_t<Like>>>{};
  } else {
    using added = difference_t<dims_t<Like>, dims_t<Shape>>;
    return answer<accepted<
        make_shape_t<dims, difference_t<marks_t<Shape>, typename indexed_list<axes_of_list_t<added>>::type>>>>{};
  }
}

}  // namespace detail

namespace rule {

template <class From, class To, class Shape>
using rename = detail::on_ranks<op::rename, detail::of_one, detail::list<From, To>,
                                decltype(detail::judge_rename<op::rename, From, To, Shape>()), Shape>;
template <class From, class To, class Shape>
using relabel = detail::on_ranks<op::relabel, detail::of_one, detail::list<From, To>,
                                 decltype(detail::judge_rename<op::relabel, From, To, Shape>()), Shape>;
template <class Order, class Shape>
using permute = detail::on_ranks<op::permute, detail::of_one, detail::list<>,
                                 decltype(detail::judge_permute<detail::named_t<Order>, Shape>()), Shape>;
template <class Shape, class... Factors>
using split =
    detail::on_ranks<op::split, detail::of_one, detail::list<>,
                     decltype(detail::judge_split<merged<Factors...>, detail::list<Factors...>, Shape>()), Shape>;
template <class Shape, class... Factors>
using merge =
    detail::on_ranks<op::merge, detail::of_one, detail::list<>,
                     decltype(detail::judge_merge<merged<Factors...>, detail::list<Factors...>, Shape>()), Shape>;
template <class P, class Shape>
using part =
    detail::on_ranks<op::part, detail::of_one, detail::list<>, decltype(detail::judge_part<P, Shape>()), Shape>;
template <class A, class B, class Shape>
using diagonal = detail::on_ranks<op::diagonal, detail::of_one, detail::list<A, B>,
                                  decltype(detail::judge_diagonal<A, B, Shape>()), Shape>;
template <class D, class Shape>
using broadcast = detail::on_ranks<op::broadcast, detail::of_one, detail::list<D>,
                                   decltype(detail::judge_broadcast<D, Shape>()), Shape>;
template <class Shape, class Like>
using broadcast_like = detail::on_ranks<op::broadcast_like, detail::of_one, detail::list<>,
                                        decltype(detail::judge_broadcast_like<Shape, Like>()), Shape>;

}  // namespace rule
}  // namespace dimwise

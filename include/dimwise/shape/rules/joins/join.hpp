// SPDX-License-Identifier: BSL-1.0
// dimwise/shape/rules/joins/join.hpp -- the verdicts of concat and stack.
//
// Layer: shape. Operands agree in everything but the joined dimension, biases and masks (R10). Included by
// rules/index.hpp.
//
//   concat<D>: [D, rest] x [D, rest] -> [D, rest]      stack<D>: [rest] x [rest] -> [D, rest]
//
// R1, R4, R10, R17.
// Tests: tests/shape/rules/index.test.cpp, tests/compile_fail/index/
#pragma once

#include <dimwise/shape/rules/assign.hpp>
#include <dimwise/shape/rules/restride.hpp>
#include <dimwise/shape/verdict.hpp>

namespace dimwise::detail {

// A bias of one part distinguishes it from the others, so a softmax over the joined dimension sees it.
template <class Marks, class Part, class Whole>
struct joined_biases;
template <class... M, class Part, class Whole>
struct joined_biases<list<M...>, Part, Whole> {
  template <class Mark>
  struct one {
    using type = list<>;
  };
  template <class... D>
  struct one<biased_for<D...>> {
    using type = list<biased_for<D...>>;
  };
  template <class... D>
    requires(Whole::size > 0)
  struct one<biased_for<D...>> : mark_over<biased_for, sorted_t<union_t<difference_t<list<D...>, list<Part>>, Whole>>> {
  };
  using type = join_t<typename one<M>::type...>;
};
// A mask over a part applies to the whole; parts without a mask are visible.
template <class Marks, class Part, class Whole>
struct joined_masks;
template <class... M, class Part, class Whole>
struct joined_masks<list<M...>, Part, Whole> {
  template <class Mark>
  struct one {
    using type = list<>;
  };
  template <class... D>
  struct one<masked_for<D...>> : mark_over<masked_for, sorted_t<replace_t<list<D...>, Part, Whole>>> {};
  using type = join_t<typename one<M>::type...>;
};
// The mark of the joined masks; masks over different dimensions are not joined.
template <class... Masks>
using all_masks_t = marks_t<make_shape_t<list<>, join_t<Masks...>>>;

template <class Marks>
struct without_joined;
template <class... M>
struct without_joined<list<M...>> {
  using type =
      join_t<list_if<mark_order<M> != mark_order<biased_for<>> && mark_order<M> != mark_order<masked_for<>>, M>...>;
};
template <class Shape>
using alike_t = make_shape_t<dims_t<Shape>, typename without_joined<marks_t<Shape>>::type>;

// All of `B` as in `A` but the part that takes D's place, what was added to one of them, and what masks one of them.
template <class DA, class DB, class A, class B>
inline constexpr bool joins =
    same_set<replace_t<dims_t<B>, DB, list<DA>>, dims_t<A>> && same_set<marks_t<alike_t<A>>, marks_t<alike_t<B>>>;

// Errors show the first operand and the one that differs.
template <class D, class... Shapes>
using first_without = first_t<join_t<list_if<!is_in<D, dims_t<Shapes>>, Shapes>...>>;
template <class D, class A, class... B>
using first_unlike = first_t<join_t<list_if<!joins<D, D, A, B>, B>...>>;

template <class D, class A, class... B>
consteval auto judge_concat() {
  using masks = all_masks_t<typename joined_masks<marks_t<A>, D, list<D>>::type,
                            typename joined_masks<marks_t<B>, D, list<D>>::type...>;
  using missing = join_t<difference_t<list<D>, dims_t<A>>, difference_t<list<D>, dims_t<B>>...>;
  if constexpr (missing::size > 0) {
    return answer<
        ERROR_R1_dimension_is_not_in_the_operand<op::concat, over<about_t<D>>, operand_t<first_without<D, A, B...>>>>{};
  } else if constexpr (is_composite<D>) {
    return answer<
        ERROR_R4_composite_has_other_factors_or_order<op::concat, over<about_t<D>>, operand_t<A>, operand_t<B>...>>{};
  } else if constexpr (D::static_extent != at_run_time) {
    return answer<ERROR_R10_concat_of_a_static_extent_names_its_result<op::concat, over<about_t<D>>, operand_t<A>,
                                                                       operand_t<B>...>>{};
  } else if constexpr (!(joins<D, D, A, B> && ...)) {
    return answer<ERROR_R10_operands_differ_in_another_dimension<op::concat, over<about_t<D>>, operand_t<A>,
                                                                 operand_t<first_unlike<D, A, B...>>>>{};
  } else if constexpr (masks::size > 1) {
    return answer<
        ERROR_R10_operands_differ_in_another_dimension<op::concat, over<about_t<D>>, operand_t<A>, operand_t<B>...>>{};
  } else {
    using marks = join_t<masks, typename cut_marks<marks_t<alike_t<A>>, D>::type,
                         typename joined_biases<marks_t<A>, D, list<D>>::type,
                         typename joined_biases<marks_t<B>, D, list<D>>::type...>;
    return answer<accepted<make_shape_t<dims_t<A>, marks>>>{};
  }
}

// A part may be rotated while others are not: its rotations are its own.
template <class Own, class Shape>
struct own_rotation {
  template <class... M>
  static auto keep(list<M...>) -> join_t<list_if<rotates<list<Own>, M>, M>...>;
  using type = decltype(keep(marks_t<Shape>{}));
  using rest = make_shape_t<dims_t<Shape>, difference_t<marks_t<Shape>, type>>;
};

// A part of a sum, and the operand that has it.
template <class Part, class Shape>
struct part_in {
  using part = Part;
  using shape = Shape;
};
template <class First, class A, class Part, class B>
inline constexpr bool joins_part =
    joins<First, Part, typename own_rotation<First, A>::rest, typename own_rotation<Part, B>::rest>;

// A list with one shape per part.
template <class Whole, class Parts, class... Shapes>
struct masks_of_parts {
  using type = list<>;
};
template <class Whole, class... P, class... Shapes>
  requires(sizeof...(P) == sizeof...(Shapes))
struct masks_of_parts<Whole, list<P...>, Shapes...> {
  using type = all_masks_t<typename joined_masks<marks_t<Shapes>, P, list<Whole>>::type...>;
};

template <class Whole, class Parts, class... Shapes>
struct concat_parts;
template <class Whole, class First, class... P, class A, class... B>
struct concat_parts<Whole, list<First, P...>, A, B...> {
  static consteval auto judge() {
    using O = over<about_t<Whole>>;
    using masks = typename masks_of_parts<Whole, list<First, P...>, A, B...>::type;
    if constexpr (!named_once<list<First, P...>>) {
      return answer<ERROR_R17_dimension_occurs_twice<op::concat, O, operand_t<A>, operand_t<B>...>>{};
    } else if constexpr (sizeof...(P) != sizeof...(B)) {
      return answer<ERROR_R10_operands_differ_in_another_dimension<op::concat, O, operand_t<A>, operand_t<B>...>>{};
    } else if constexpr (!is_in<First, dims_t<A>> || !(is_in<P, dims_t<B>> && ...)) {
      using lacks = first_t<join_t<list_if<!is_in<First, dims_t<A>>, part_in<First, A>>,
                                   list_if<!is_in<P, dims_t<B>>, part_in<P, B>>...>>;
      return answer<ERROR_R1_dimension_is_not_in_the_operand<op::concat, over<about_t<typename lacks::part>>, O,
                                                             operand_t<typename lacks::shape>>>{};
    } else if constexpr (!(joins_part<First, A, P, B> && ...)) {
      return answer<ERROR_R10_operands_differ_in_another_dimension<
          op::concat, O, operand_t<A>, operand_t<first_t<join_t<list_if<!joins_part<First, A, P, B>, B>...>>>>>{};
    } else if constexpr (masks::size > 1) {
      return answer<ERROR_R10_operands_differ_in_another_dimension<op::concat, O, operand_t<A>, operand_t<B>...>>{};
    } else {
      using marks =
          join_t<masks, typename cut_marks<marks_t<alike_t<A>>, First>::type, typename own_rotation<P, B>::type...,
                 typename joined_biases<marks_t<A>, First, list<Whole>>::type,
                 typename joined_biases<marks_t<B>, P, list<Whole>>::type...>;
      return answer<accepted<make_shape_t<replace_t<dims_t<A>, First, list<Whole>>, marks>>>{};
    }
  }
};
template <class Whole, class Parts, class... Shapes>
  requires(Parts::size != sizeof...(Shapes))
struct concat_parts<Whole, Parts, Shapes...> {
  static consteval auto judge() {
    return answer<
        ERROR_R10_operands_differ_in_another_dimension<op::concat, over<about_t<Whole>>, operand_t<Shapes>...>>{};
  }
};
template <class D>
struct concat_judge {
  template <class... Shapes>
  static consteval auto judge() {
    return judge_concat<D, Shapes...>();
  }
};
template <class... P>
struct concat_judge<summed<P...>> {
  template <class... Shapes>
  static consteval auto judge() {
    return concat_parts<summed<P...>, list<P...>, Shapes...>::judge();
  }
};

// `Count` operands; of a vector their number is a run-time value.
template <class D, std::size_t Count, class A, class... B>
consteval auto judge_stack() {
  using O = over<about_t<D>>;
  using masks = all_masks_t<typename joined_masks<marks_t<A>, nothing, list<>>::type,
                            typename joined_masks<marks_t<B>, nothing, list<>>::type...>;
  if constexpr (is_composite<D>) {
    return answer<ERROR_R4_composite_has_other_factors_or_order<op::stack, O, operand_t<A>, operand_t<B>...>>{};
  } else if constexpr (!(joins<nothing, nothing, A, B> && ...)) {
    return answer<ERROR_R10_operands_differ_in_another_dimension<op::stack, O, operand_t<A>,
                                                                 operand_t<first_unlike<nothing, A, B...>>>>{};
  } else if constexpr (masks::size > 1) {
    return answer<ERROR_R10_operands_differ_in_another_dimension<op::stack, O, operand_t<A>, operand_t<B>...>>{};
  } else if constexpr (D::static_extent != at_run_time && Count != at_run_time && D::static_extent != Count) {
    return answer<ERROR_R10_stack_has_another_extent<op::stack, O, extent<Count>, operand_t<A>>>{};
  } else if constexpr (!all_distinct(axes_of_list_t<join_t<list<D>, dims_t<A>>>{})) {
    return answer<ERROR_R17_dimension_occurs_twice<op::stack, O, operand_t<A>>>{};
  } else {
    using told_apart = typename alternatives_in<list<D>>::type;
    using marks = join_t<masks, typename without_indexed<marks_t<alike_t<A>>, D>::type,
                         typename joined_biases<marks_t<A>, nothing, told_apart>::type,
                         typename joined_biases<marks_t<B>, nothing, told_apart>::type...>;
    return answer<accepted<make_shape_t<join_t<list<D>, dims_t<A>>, marks>>>{};
  }
}

}  // namespace dimwise::detail

// SPDX-License-Identifier: BSL-1.0
// dimwise/expr/masks/mask_algebra.hpp -- masks made from masks: `&`, `|`, `!`, `allow_of`, `whole_rows`.
//
// Layer: expr.
// Tests: tests/expr/masks/mask.test.cpp, tests/eval/attention/whole_rows.test.cpp, tests/compile_fail/mask/
//
//   causal<seq, key>{} & padding<key>(lengths)
//   window<seq, key>{1, 1} | whole_rows(allow(global))                   tokens that see everything
//   padding<source>(s) & whole_rows(padding<target>(t))                  queries that are padding see nothing
#pragma once

#include <dimwise/expr/masks/given_masks.hpp>

namespace dimwise {

namespace detail {

// A mask made from another one, over its dimensions.
template <class M>
class mask_of_mask : public mask_tag {
 public:
  explicit mask_of_mask(const M& m) : inner_(m) {}
  [[nodiscard]] const M& inner() const { return inner_; }
  template <class F>
  void each_child(const F& f) const {
    f(inner_);
  }
  template <class Extents>
  void check(const Extents& e, const char* operation) const {
    inner_.check(e, operation);
  }

 private:
  M inner_;
};

}  // namespace detail

/// The result of `!m`: visible where `m` hides.
template <class M>
class mask_not : public detail::mask_of_mask<M> {
 public:
  using facts =
      detail::mask_facts<typename M::facts::dims, typename M::facts::serves,
                         M::facts::documents&& requires(const M& m) { m.elements(); }, typename M::facts::taken>;
  using detail::mask_of_mask<M>::mask_of_mask;
};

namespace no_adl {

/// The mask that hides what `hidden` marks.
template <class E>
[[nodiscard]] auto allow_of(const block_mask<E>& hidden) {
  return mask_not<given_mask<E>>(given_mask<E>(hidden.elements()));
}
template <operand M, class Error = detail::unclear_mask_error_t<op::allow_of, M>>
Error allow_of(const M& m);
DIMWISE_DETAIL_MISUSED(allow_of)

}  // namespace no_adl

namespace detail {

struct all_of {
  static constexpr const char* name = "&";
  static bool join(bool a, bool b) { return a && b; }
};
struct any_of {
  static constexpr const char* name = "|";
  static bool join(bool a, bool b) { return a || b; }
};

template <class A, class B>
using served_by_both = typename served_together<typename A::facts::serves, typename B::facts::serves>::type;

// A mask of the other polarity is combined with masks only after it was turned.
template <class M>
struct combined_dims {
  using type = list<>;
};
template <mask_like M>
struct combined_dims<M> {
  using type = typename M::facts::dims;
};
template <class E>
struct combined_dims<block_mask<E>> {
  using type = dims_t<shape_of<E>>;
};
template <class Op, class A, class B>
using block_among_masks = ERROR_R7_block_mask_needs_allow_of<Op, over_t<typename combined_dims<A>::type>,
                                                             over_t<typename combined_dims<B>::type>>;

// Whether two masks are one, and why not.
template <class A, class B>
inline constexpr bool masks_combine =
    served_by_both<A, B>::size > 0 && !indexed_meets<typename A::facts::shape, typename B::facts::shape>;
template <class Op, class A, class B>
using combine_error = either_t<
    (served_by_both<A, B>::size > 0),
    ERROR_R18_single_element_meets_its_whole_dimension<Op, lhs_t<typename A::facts::shape>,
                                                       rhs_t<typename B::facts::shape>>,
    ERROR_R7_masks_serve_no_common_dimension<Op, over_t<typename A::facts::serves>, over_t<typename B::facts::serves>>>;

}  // namespace detail

/// The result of `a & b` and `a | b`.
template <class How, class A, class B>
class mask_pair : public detail::mask_tag {
 public:
  using how = How;
  using facts = detail::mask_facts<detail::union_t<typename A::facts::dims, typename B::facts::dims>,
                                   detail::served_by_both<A, B>,
                                   std::is_same_v<How, detail::all_of> ? (A::facts::documents || B::facts::documents)
                                                                       : (A::facts::documents&& B::facts::documents),
                                   detail::union_t<typename A::facts::taken, typename B::facts::taken>>;
  /// Of two masks.
  mask_pair(const A& a, const B& b) : left_(a), right_(b) {}
  /// The masks that it is made of.
  [[nodiscard]] const A& left() const { return left_; }
  [[nodiscard]] const B& right() const { return right_; }
  template <class F>
  void each_child(const F& f) const {
    f(left_);
    f(right_);
  }
  template <class Extents>
  void check(const Extents& e, const char* operation) const {
    left_.check(e, operation);
    right_.check(e, operation);
  }

 private:
  A left_;
  B right_;
};

/// `a & b`, `a | b`, `!a`: visible where both masks show, one of them shows, or this one hides. Two masks serve a
/// common dimension (R7).
template <mask A, mask B>
  requires(detail::masks_combine<A, B>)
[[nodiscard]] auto operator&(const A& a, const B& b) {
  return mask_pair<detail::all_of, A, B>(a, b);
}
template <mask A, mask B, class Error = detail::combine_error<op::mask_and, A, B>>
  requires(!detail::masks_combine<A, B>)
Error operator&(const A& a, const B& b);
template <mask A, mask B>
  requires(detail::masks_combine<A, B>)
[[nodiscard]] auto operator|(const A& a, const B& b) {
  return mask_pair<detail::any_of, A, B>(a, b);
}
template <mask A, mask B, class Error = detail::combine_error<op::mask_or, A, B>>
  requires(!detail::masks_combine<A, B>)
Error operator|(const A& a, const B& b);
template <class E, class M, class Error = detail::block_among_masks<op::mask_and, block_mask<E>, M>>
Error operator&(const block_mask<E>& a, const M& b);
template <mask M, class E, class Error = detail::block_among_masks<op::mask_and, M, block_mask<E>>>
Error operator&(const M& a, const block_mask<E>& b);
template <class E, class M, class Error = detail::block_among_masks<op::mask_or, block_mask<E>, M>>
Error operator|(const block_mask<E>& a, const M& b);
template <mask M, class E, class Error = detail::block_among_masks<op::mask_or, M, block_mask<E>>>
Error operator|(const M& a, const block_mask<E>& b);
template <mask A>
[[nodiscard]] auto operator!(const A& a) {
  return mask_not<A>(a);
}

namespace detail {

// A mask of the part D of a sum, over the whole sum: the other parts are visible.
template <class D, class Sum, class M>
class mask_in_sum : public mask_of_mask<M> {
 public:
  using facts = facts_in_sum<typename M::facts, D, Sum>;
  using part = D;
  using sum = Sum;
  using mask_of_mask<M>::mask_of_mask;

  // The elements of the sum before those of the part.
  template <class Extents>
  [[nodiscard]] static std::size_t before(const Extents& e) {
    return before_in(e, Sum{});
  }

 private:
  template <class Extents, class... P>
  static std::size_t before_in(const Extents& e, summed<P...>) {
    std::size_t n = 0;
    bool found = false;
    ((found = found || std::is_same_v<P, D>, n += found ? 0 : e.template extent<P>()), ...);
    return n;
  }
};
template <class M>
inline constexpr bool is_mask_in_sum = false;
template <class D, class Sum, class M>
inline constexpr bool is_mask_in_sum<mask_in_sum<D, Sum, M>> = true;

// The mask as it is over the dimensions of what it masks.
template <class Shape, class M>
auto mask_over(const M& m) {
  using facts = typename M::facts;
  if constexpr (std::is_same_v<facts_over_t<Shape, facts>, facts>) {
    return m;
  } else {
    using parts = typename parts_of_sums<difference_t<typename facts::dims, dims_t<Shape>>, dims_t<Shape>>::type;
    return []<class D, class Sum>(const M& inner, list<part_of_sum<D, Sum>>) { return mask_in_sum<D, Sum, M>(inner); }(
               m, parts{});
  }
}

}  // namespace detail

/// The result of `whole_rows(m)`.
template <class M>
class whole_rows_mask : public detail::mask_of_mask<M> {
 public:
  using facts =
      detail::mask_facts<typename M::facts::dims, typename detail::any_but_list<typename M::facts::dims>::type, false,
                         typename M::facts::taken>;
  using detail::mask_of_mask<M>::mask_of_mask;
};

namespace detail {

template <class M>
inline constexpr bool is_whole_rows = false;
template <class M>
inline constexpr bool is_whole_rows<whole_rows_mask<M>> = true;
}  // namespace detail

namespace no_adl {

/// The mask `m` for whatever softmax or reduction follows, over any dimension but its own: of a row that it hides
/// nothing is visible, of one that it shows everything.
///
/// Alone it leaves the rows that it shows as they are; a softmax gives 0 in the others. Combined by `&` and `|` it
/// serves what the other mask serves (R7).
template <mask M>
[[nodiscard]] auto whole_rows(const M& m) {
  return whole_rows_mask<M>(m);
}
template <class M, class Error = detail::unclear_mask_error_t<op::whole_rows, M>>
Error whole_rows(const M& m);
DIMWISE_DETAIL_MISUSED(whole_rows)

}  // namespace no_adl

}  // namespace dimwise

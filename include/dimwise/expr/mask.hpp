// SPDX-License-Identifier: BSL-1.0
// dimwise/expr/mask.hpp -- masks: what may be attended to, as types that say which dimensions they relate and serve.
//
// Layer: expr. A mask is an `allow` mask: true means visible. Symbolic masks hold no elements; they learn the extents
// of their dimensions from what they mask.
// Tests: tests/expr/mask.test.cpp, tests/compile_fail/mask/
//
//   softmax<key>(masked(scores<d_k>(q, k), causal<seq, key>{} & padding<key>(lengths)))
#pragma once

#include <dimwise/expr/node.hpp>
#include <dimwise/expr/product_errors.hpp>
#include <dimwise/shape/rules/mask.hpp>
#include <dimwise/shape/rules/reduce.hpp>

#include <span>

namespace dimwise {

namespace detail {

// Moving a mask copies it, as moving an expression does.
struct mask_tag {
  mask_tag() = default;
  mask_tag(const mask_tag&) = default;
  mask_tag(mask_tag&&) = delete;
  mask_tag& operator=(const mask_tag&) = default;
  mask_tag& operator=(mask_tag&&) = delete;
  ~mask_tag() = default;
  // f(child) for each operand or mask that this one is made of: a mask of positions has none.
  template <class F>
  void each_child(const F&) const {}
};

template <class X>
concept mask_like = std::derived_from<X, mask_tag>;

// Where the two positions that a symbolic mask compares begin; given with the mask, or by the extents of the scores.
template <class Q, class K>
class related_positions {
 public:
  using query = Q;
  using key = K;

  related_positions() = default;
  related_positions(const Q& q, const K& k) : query_origin_(q.origin()), key_origin_(k.origin()), given_(true) {}

  // R7: positions of different extents, or of unrelated dimensions, are compared only by origins that someone said.
  template <class Extents>
  std::ptrdiff_t query_origin(const Extents& e, const char* name) const {
    if (given_) { return query_origin_; }
    if constexpr (is_packed<Q> && is_packed<K>) {
      if (!e.template has_origin<Q>() && !e.template has_origin<K>()) {
        same_documents(e.template documents<Q>(), e.template documents<K>(), name);
      }
    }
    if (e.template extent<Q>() != e.template extent<K>() && !e.template has_origin<Q>() &&
        !e.template has_origin<K>()) {
      raise<origin_error>(error{} << name << ": " << dimension_name<Q>() << " has extent " << e.template extent<Q>()
                                  << " and " << dimension_name<K>() << " has extent " << e.template extent<K>()
                                  << "; say where they begin with starting_at (R7)");
    }
    return e.template origin<Q>(name);
  }
  template <class Extents>
  std::ptrdiff_t key_origin(const Extents& e, const char* name) const {
    return given_ ? key_origin_ : e.template origin<K>(name);
  }
  template <class Extents>
  void check(const Extents& e, const char* name) const {
    (void)query_origin(e, name);
    (void)key_origin(e, name);
  }

 private:
  // Packed positions count through all documents: totals that agree say nothing of where a document begins.
  static void same_documents(const segments& queries, const segments& keys, const char* name) {
    if (queries.size() != keys.size()) {
      raise<origin_error>(error{} << name << ": " << dimension_name<Q>() << " has " << queries.size()
                                  << " documents and " << dimension_name<K>() << " has " << keys.size()
                                  << "; positions are compared between documents of the same lengths (R7)");
    }
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (queries.begin()[i] != keys.begin()[i]) {
        raise<origin_error>(error{} << name << ": document " << i << " has " << queries.begin()[i] << " positions of "
                                    << dimension_name<Q>() << " and " << keys.begin()[i] << " of "
                                    << dimension_name<K>()
                                    << "; positions are compared between documents of the same lengths (R7)");
      }
    }
  }

  std::ptrdiff_t query_origin_ = 0;
  std::ptrdiff_t key_origin_ = 0;
  bool given_ = false;
};

template <class Q, class K>
inline constexpr bool comparable = related<Q, K> && !extents_differ<Q, K>;
template <class Q, class K>
inline constexpr bool both_ordered = has_any(Q::abilities, ability::ordered) && has_any(K::abilities, ability::ordered);

// The positions of a symbolic mask, and why they cannot be compared.
template <class Op, class Q, class K>
using positions_error =
    std::conditional_t<!both_ordered<Q, K>, ERROR_R13_needs_ordered_positions<Op, over<about_t<Q>, about_t<K>>>,
                       ERROR_R7_query_and_key_positions_are_related_or_have_origins<Op, over<about_t<Q>, about_t<K>>>>;

}  // namespace detail

/// A mask: visible where true.
template <class M>
concept mask = detail::mask_like<M>;

/// Every key up to the query's own position is visible.
///
///   visible(i, j) = position of key j <= position of query i
///
/// Positions are those of the extents (`starting_at`), or given here: `causal<seq, key>{starting_at(seq{1}, 41),
/// key{42}}`. Unrelated dimensions, and static extents that differ, need origins given here (R7); run-time extents that
/// differ throw `origin_error` unless an origin was said.
template <class Q, class K>
class causal : public detail::mask_tag, public detail::related_positions<Q, K> {
 public:
  using facts = detail::mask_facts<detail::list<Q, K>, detail::list<K>, false>;
  static constexpr const char* name = "causal";

  causal()
    requires(detail::comparable<Q, K> && detail::both_ordered<Q, K>)
  = default;
  template <class Error = detail::positions_error<op::causal, Q, K>>
    requires(!detail::comparable<Q, K> || !detail::both_ordered<Q, K>)
  causal(Error* = nullptr) = delete;
  causal(const Q& q, const K& k)
    requires(detail::both_ordered<Q, K>)
      : detail::related_positions<Q, K>(q, k) {}
  template <
      class Error = ERROR_R1_operation_takes_other_arguments<op::causal, over<detail::about_t<Q>, detail::about_t<K>>>>
  explicit causal(detail::any_argument, ...) = delete;

  [[nodiscard]] static bool visible(std::ptrdiff_t q, std::ptrdiff_t k) { return k <= q; }
};

/// Keys at most `left` before and `right` after the query's position are visible; no limit where it is negative.
template <class Q, class K>
class window : public detail::mask_tag, public detail::related_positions<Q, K> {
 public:
  using facts = detail::mask_facts<detail::list<Q, K>, detail::list<K>, false>;
  static constexpr const char* name = "window";

  window(std::ptrdiff_t left, std::ptrdiff_t right)
    requires(detail::comparable<Q, K> && detail::both_ordered<Q, K>)
      : left_(left), right_(right) {}
  template <class Error = detail::positions_error<op::window, Q, K>>
    requires(!detail::comparable<Q, K> || !detail::both_ordered<Q, K>)
  window(std::ptrdiff_t left, std::ptrdiff_t right, Error* = nullptr) = delete;
  window(std::ptrdiff_t left, std::ptrdiff_t right, const Q& q, const K& k)
    requires(detail::both_ordered<Q, K>)
      : detail::related_positions<Q, K>(q, k), left_(left), right_(right) {}

  template <
      class Error = ERROR_R1_operation_takes_other_arguments<op::window, over<detail::about_t<Q>, detail::about_t<K>>>>
  explicit window(...) = delete;

  // Differences of positions, which are no further than 2^60 from 0: sums of a position and a limit may overflow.
  [[nodiscard]] bool visible(std::ptrdiff_t q, std::ptrdiff_t k) const {
    return (left_ < 0 || q - k <= left_) && (right_ < 0 || k - q <= right_);
  }
  [[nodiscard]] std::ptrdiff_t left() const { return left_; }
  [[nodiscard]] std::ptrdiff_t right() const { return right_; }

 private:
  std::ptrdiff_t left_;
  std::ptrdiff_t right_;
};

/// The first `length` positions are visible to all, the others as in `causal`: a prefix language model.
///
/// Refuses packed positions: every document has a prefix of its own, which a given mask says (R19).
template <class Q, class K>
class prefix : public detail::mask_tag, public detail::related_positions<Q, K> {
 public:
  using facts = detail::mask_facts<detail::list<Q, K>, detail::list<K>, false>;
  static constexpr const char* name = "prefix";

  explicit prefix(std::ptrdiff_t length)
    requires(detail::comparable<Q, K> && detail::both_ordered<Q, K> && !detail::is_packed<Q>)
      : length_(length) {}
  template <class Error = std::conditional_t<detail::is_packed<Q>,
                                             ERROR_R19_packed_positions_need_their_documents<
                                                 op::prefix, over<detail::about_t<Q>, detail::about_t<K>>>,
                                             detail::positions_error<op::prefix, Q, K>>>
    requires(!detail::comparable<Q, K> || !detail::both_ordered<Q, K> || detail::is_packed<Q>)
  explicit prefix(std::ptrdiff_t length, Error* = nullptr) = delete;
  template <
      class Error = ERROR_R1_operation_takes_other_arguments<op::prefix, over<detail::about_t<Q>, detail::about_t<K>>>>
  explicit prefix(...) = delete;

  [[nodiscard]] bool visible(std::ptrdiff_t q, std::ptrdiff_t k) const { return k < length_ || k <= q; }
  [[nodiscard]] std::ptrdiff_t length() const { return length_; }

 private:
  std::ptrdiff_t length_;
};

/// Positions of the same document of a packed dimension are visible to each other (R19).
template <class Q, class K>
class document : public detail::mask_tag {
 public:
  using facts = detail::mask_facts<detail::list<Q, K>, detail::list<K>, true>;
  static constexpr const char* name = "document";

  document()
    requires(detail::is_packed<Q> && detail::is_packed<K> && detail::related<Q, K>)
  = default;
  template <class Error = ERROR_R19_packed_positions_need_their_documents<op::document,
                                                                          over<detail::about_t<Q>, detail::about_t<K>>>>
    requires(!detail::is_packed<Q> || !detail::is_packed<K> || !detail::related<Q, K>)
  document(Error* = nullptr) = delete;

  template <class Extents>
  void check(const Extents& e, const char*) const {
    if (!e.template documents<Q>().known() || !e.template documents<K>().known()) {
      detail::raise<extent_error>(error{} << "document: " << detail::dimension_name<Q>() << " and "
                                          << detail::dimension_name<K>()
                                          << " need the lengths of their documents (R19)");
    }
    check_total<Q>(e);
    check_total<K>(e);
  }

 private:
  // A dimension of the user's own may say documents that are not its extent.
  template <class D, class Extents>
  static void check_total(const Extents& e) {
    const extent_t total = e.template documents<D>().total();
    if (total != e.template extent<D>()) {
      detail::raise<extent_error>(error{} << "document: the documents of " << detail::dimension_name<D>() << " hold "
                                          << total << " positions, its extent is " << e.template extent<D>()
                                          << " (R19)");
    }
  }
};

/// Keys before each sequence's length are visible.
template <class K, class Lengths>
class padding_mask : public detail::mask_tag {
 public:
  using lengths_type = Lengths;
  using facts = detail::mask_facts<detail::join_t<detail::dims_t<detail::shape_of<Lengths>>, detail::list<K>>,
                                   detail::list<K>, false, detail::taken_t<detail::shape_of<Lengths>>>;
  static constexpr const char* name = "padding";

  explicit padding_mask(const Lengths& lengths) : lengths_(lengths) {}
  [[nodiscard]] const Lengths& lengths() const { return lengths_; }
  template <class F>
  void each_child(const F& f) const {
    f(lengths_);
  }
  template <class Extents>
  void check(const Extents& e, const char* operation) const {
    (void)detail::merge_extents<detail::union_t<typename Extents::atoms, typename Lengths::extents_type::atoms>>(
        operation, e, lengths_.extents());
  }

 private:
  Lengths lengths_;
};

namespace detail {

// Lengths are whole numbers for each of some parallel dimensions.
template <class L>
inline constexpr bool are_lengths =
    std::is_integral_v<value_of<L>> && !std::is_same_v<value_of<L>, bool> && filter<dims_t<shape_of<L>>>::all_parallel;

}  // namespace detail

namespace no_adl {

/// Keys before the length of their sequence are visible: `padding<key>(lengths)`, `lengths` a tensor of whole numbers
/// over parallel dimensions. Throws `extent_error` when evaluated with a length beyond the keys.
template <class K, operand L>
  requires(detail::are_lengths<L>)
[[nodiscard]] auto padding(const L& lengths) {
  return padding_mask<K, L>(lengths);
}
template <class K, operand L,
          class Error = ERROR_R7_lengths_are_per_parallel_dimension<op::padding, over<detail::about_t<K>>,
                                                                    detail::operand_t<detail::shape_of<L>>>>
  requires(!detail::are_lengths<L>)
Error padding(const L& lengths);
/// One length for all.
template <class K, std::integral N>
[[nodiscard]] auto padding(N length) {
  return padding_mask<K, tensor<std::ptrdiff_t>>(tensor<std::ptrdiff_t>({static_cast<std::ptrdiff_t>(length)}));
}

}  // namespace no_adl

namespace detail {

template <class T>
inline constexpr bool is_bool = std::is_same_v<T, bool>;

}  // namespace detail

/// A mask given as a tensor of bool: visible where true.
template <class E>
class given_mask : public detail::mask_tag {
 public:
  // Documents are kept apart only by a mask that has both sides of a packed dimension; its content is the user's.
  using facts = detail::mask_facts<
      detail::dims_t<detail::shape_of<E>>, typename detail::filter<detail::dims_t<detail::shape_of<E>>>::alternatives,
      (detail::filter<detail::axes_of_list_t<detail::dims_t<detail::shape_of<E>>>>::packed::size > 1),
      detail::taken_t<detail::shape_of<E>>>;
  static constexpr const char* name = "allow";
  explicit given_mask(const E& e) : elements_(e) {}
  [[nodiscard]] const E& elements() const { return elements_; }
  template <class F>
  void each_child(const F& f) const {
    f(elements_);
  }
  template <class Extents>
  void check(const Extents& e, const char* operation) const {
    (void)detail::merge_extents<detail::union_t<typename Extents::atoms, typename detail::extents_type_of<E>::atoms>>(
        operation, e, elements_.extents());
  }

 private:
  E elements_;
};

/// A tensor of bool that is true where something is hidden; `allow_of` turns it into a mask.
template <class E>
class block_mask {
 public:
  using elements_type = E;
  explicit block_mask(const E& e) : elements_(e) {}
  block_mask(const block_mask&) = default;  // moving copies
  block_mask& operator=(const block_mask&) = default;
  ~block_mask() = default;
  [[nodiscard]] const E& elements() const { return elements_; }

 private:
  E elements_;
};

namespace no_adl {

/// The mask that `elements`, a tensor of bool, says: visible where true.
template <operand E>
  requires(detail::is_bool<detail::value_of<E>>)
[[nodiscard]] auto allow(const E& elements) {
  return given_mask<E>(elements);
}
template <operand E,
          class Error = ERROR_R7_given_mask_is_a_tensor_of_bool<op::allow, detail::operand_t<detail::shape_of<E>>>>
  requires(!detail::is_bool<detail::value_of<E>>)
Error allow(const E& elements);
/// The opposite polarity, hidden where true, as PyTorch's `key_padding_mask` means it.
template <operand E>
  requires(detail::is_bool<detail::value_of<E>>)
[[nodiscard]] auto block(const E& elements) {
  return block_mask<E>(elements);
}

template <operand E,
          class Error = ERROR_R7_given_mask_is_a_tensor_of_bool<op::block, detail::operand_t<detail::shape_of<E>>>>
  requires(!detail::is_bool<detail::value_of<E>>)
Error block(const E& elements);

}  // namespace no_adl

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
using block_among_masks = ERROR_R7_block_mask_is_turned_by_allow_of<Op, over_t<typename combined_dims<A>::type>,
                                                                    over_t<typename combined_dims<B>::type>>;

// Whether two masks are one, and why not.
template <class A, class B>
inline constexpr bool masks_combine =
    served_by_both<A, B>::size > 0 && !indexed_meets<typename A::facts::shape, typename B::facts::shape>;
template <class Op, class A, class B>
using combine_error = std::conditional_t<
    (served_by_both<A, B>::size > 0),
    ERROR_R18_indexed_meets_its_dimension<Op, lhs_t<typename A::facts::shape>, rhs_t<typename B::facts::shape>>,
    ERROR_R7_masks_serve_no_common_dimension<Op, over_t<typename A::facts::serves>, over_t<typename B::facts::serves>>>;

}  // namespace detail

template <class How, class A, class B>
class mask_pair : public detail::mask_tag {
 public:
  using how = How;
  using facts = detail::mask_facts<detail::union_t<typename A::facts::dims, typename B::facts::dims>,
                                   detail::served_by_both<A, B>,
                                   std::is_same_v<How, detail::all_of> ? (A::facts::documents || B::facts::documents)
                                                                       : (A::facts::documents&& B::facts::documents),
                                   detail::union_t<typename A::facts::taken, typename B::facts::taken>>;
  mask_pair(const A& a, const B& b) : left_(a), right_(b) {}
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

/// Visible where both masks, or one of them, or not this one says so; both serve a common dimension (R7).
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

// Values, and the mask that hides some of them: hidden ones are −∞, whatever they were.
struct hide {
  static constexpr const char* name = "mask";
};
template <class Shape, class E, class M>
using masked_node = node<hide, Shape, value_of<E>, E, M>;

// The dimensions whose extents a mask brings along: those of given elements and of lengths.
template <class M>
struct brought {
  using type = list<>;
};
template <class E>
struct brought<given_mask<E>> {
  using type = typename extents_type_of<E>::atoms;
};
template <class K, class L>
struct brought<padding_mask<K, L>> {
  using type = typename extents_type_of<L>::atoms;
};
template <class M>
struct brought<mask_not<M>> : brought<M> {};
template <class How, class A, class B>
struct brought<mask_pair<How, A, B>> {
  using type = union_t<typename brought<A>::type, typename brought<B>::type>;
};

// Those extents; what two halves of a mask both bring is checked.
template <class M>
auto brought_extents(const M& m) {
  if constexpr (requires { typename M::how; }) {
    return merge_extents<typename brought<M>::type>("mask", brought_extents(m.left()), brought_extents(m.right()));
  } else if constexpr (requires { m.lengths(); }) {
    return m.lengths().extents();
  } else if constexpr (requires { m.elements(); }) {
    return m.elements().extents();
  } else if constexpr (requires { m.inner(); }) {
    return brought_extents(m.inner());
  } else {
    return extents_of<list<>>{};
  }
}

// Extents of what is masked, and of the parallel dimensions that a mask adds.
template <class Atoms, class Extents, class M>
extents_of<Atoms> masked_extents(const Extents& e, const M& m) {
  return merge_extents<Atoms>("masked", e, brought_extents(m));
}

}  // namespace detail

namespace no_adl {

/// `s` with everything hidden that the mask does not allow; a following softmax gives exactly 0 there.
///
///   [s] x [subset of s, more parallel dimensions]  ->  [s, those parallel dimensions], masked_for<…>
///
/// Refuses: masks without polarity, of other dimensions, after softmax (R7), packed positions without documents (R19).
template <operand S, mask M,
          class Verdict = detail::of_numbers<op::masked, rule::masked<detail::shape_of<S>, typename M::facts>, S>>
  requires allowed<Verdict>
[[nodiscard]] auto masked(const S& s, const M& m) {
  using shape = typename Verdict::shape;
  auto extents = detail::masked_extents<typename detail::extents_for<shape>::atoms>(s.extents(), m);
  m.check(extents, "masked");
  return detail::masked_node<shape, S, M>({}, extents, s, m);
}
template <operand S, mask M,
          class Verdict = detail::of_numbers<op::masked, rule::masked<detail::shape_of<S>, typename M::facts>, S>>
  requires refused<Verdict>
Verdict masked(const S& s, const M& m);
template <operand S, class E,
          class Error = ERROR_R7_block_mask_is_turned_by_allow_of<op::masked, detail::lhs_t<detail::shape_of<S>>,
                                                                  detail::rhs_t<detail::shape_of<E>>>>
Error masked(const S& s, const block_mask<E>& m);
template <operand S, operand E,
          class Error = ERROR_R7_mask_needs_a_polarity_allow_or_block<op::masked, detail::lhs_t<detail::shape_of<S>>,
                                                                      detail::rhs_t<detail::shape_of<E>>>>
Error masked(const S& s, const E& m);

}  // namespace no_adl

namespace detail {

// 1 where a mask is true, else 0, over the mask's own dimensions; it needs their extents.
struct indicate {
  static constexpr const char* name = "indicator";
};
template <class Shape, class T, class M>
using indicator_node = node<indicate, Shape, T, M>;

template <class D>
extents_of<list<D>> one_extent(const D& d) {
  extents_of<list<D>> e;
  e.set(d);
  return e;
}

template <class M, class... D>
inline constexpr bool knows_extents = is_subset<run_time_atoms_t<make_shape_t<typename M::facts::dims, list<>>>,
                                                join_t<typename brought<M>::type, list<D...>>>;

}  // namespace detail

namespace no_adl {

/// 1 where the mask is true and 0 elsewhere, over the mask's dimensions. Run-time extents that neither given elements
/// nor lengths bring along are given (R15): `indicator(causal<seq, key>{}, seq{3}, key{3})`.
template <class T = float, mask M, dimension_type... D>
  requires(detail::knows_extents<M, D...>)
[[nodiscard]] auto indicator(const M& m, const D&... extents) {
  using shape = typename M::facts::shape;
  using atoms = typename detail::extents_for<shape>::atoms;
  const auto e = detail::merge_extents<atoms>("indicator", detail::one_extent(extents)..., detail::brought_extents(m));
  m.check(e, "indicator");
  return detail::indicator_node<shape, T, M>({}, e, m);
}
template <class T = float, mask M, dimension_type... D,
          class Error = ERROR_R15_run_time_extents_are_given_once<detail::over_t<typename M::facts::dims>, over<D...>>>
  requires(!detail::knows_extents<M, D...>)
Error indicator(const M& m, const D&... extents);

}  // namespace no_adl

namespace detail {

// Scores plus a bias; what is masked stays masked.
struct add_bias {
  static constexpr const char* name = "biased";
};
template <class Shape, class E, class B>
using biased_node = node<add_bias, Shape, std::common_type_t<value_of<E>, value_of<B>>, E, B>;

}  // namespace detail

namespace no_adl {

/// `s + b`, where the bias may add parallel dimensions and no others.
///
///   [s] x [subset of s, more parallel dimensions]  ->  [s, those parallel dimensions], biased_for<…>
///
/// Refuses raw products (R6), biases after softmax, of other dimensions, or the same for all that a softmax goes over
/// (R7).
template <operand S, operand B,
          class Verdict = detail::of_scores<op::biased, rule::biased<detail::shape_of<S>, detail::shape_of<B>>, S, B>>
  requires allowed<Verdict>
[[nodiscard]] auto biased(const S& s, const B& b) {
  using shape = typename Verdict::shape;
  return detail::biased_node<shape, S, B>({}, detail::extents_from<shape>("biased", s.extents(), b.extents()), s, b);
}
template <operand S, operand B,
          class Verdict = detail::of_scores<op::biased, rule::biased<detail::shape_of<S>, detail::shape_of<B>>, S, B>>
  requires refused<Verdict>
Verdict biased(const S& s, const B& b);

}  // namespace no_adl

}  // namespace dimwise

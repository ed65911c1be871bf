// SPDX-License-Identifier: BSL-1.0
// dimwise/expr/masks/position_masks.hpp -- masks that compare positions: causal, window, prefix, document.
//
// Layer: expr. A mask is an `allow` mask: true means visible. These hold no elements; they learn the extents of their
// dimensions from what they mask.
// Tests: tests/expr/masks/mask.test.cpp, tests/compile_fail/mask/
//
//   masked(scores<d_k>(q, k), causal<seq, key>{})
#pragma once

#include <dimwise/expr/node.hpp>
#include <dimwise/shape/rules/mask.hpp>
#include <dimwise/support/library.hpp>

namespace dimwise {

template <class Q, class K>
class causal;
template <class Q, class K>
class window;
template <class Q, class K>
class prefix;
template <class Q, class K>
class document;

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
  // `if (m)`: a mask is not a single truth value.
  template <class Error = ERROR_R7_mask_is_no_condition<>>
  explicit operator bool() const DIMWISE_DETAIL_REFUSED(Error);
};

template <class X>
concept mask_like = derived_from<X, mask_tag>;

[[noreturn]] DIMWISE_DETAIL_LIBRARY void throw_origins_unsaid(const char* mask, name_of query, extent_t queries,
                                                              name_of key, extent_t keys);
// Keys that said where they are, as those of a cache, and fewer queries that did not: a query that is taken for the
// first position sees the first key alone. Parts of the keys that end where the queries end are no such case.
DIMWISE_DETAIL_LIBRARY void check_shown(const char* mask, name_of query, extent_t queries, name_of key, extent_t keys,
                                        std::ptrdiff_t first_key);
// Packed positions count through all documents: totals that agree say nothing of where a document begins.
DIMWISE_DETAIL_LIBRARY void check_same_documents(const char* mask, name_of query, const segments& queries, name_of key,
                                                 const segments& keys);

// Where the two positions that a symbolic mask compares begin; given with the mask, or by the extents of the scores.
template <class Q, class K>
class related_positions {
 public:
  using query = Q;
  using key = K;

  related_positions() = default;
  related_positions(const Q& q, const K& k) : query_origin_(said(q)), key_origin_(said(k)), given_(true) {}

  // R7: positions of different extents, or of unrelated dimensions, are compared only by origins that someone said.
  template <class Extents>
  std::ptrdiff_t query_origin(const Extents& e, const char* name) const {
    if (given_) { return query_origin_; }
    if constexpr (is_packed<Q> && is_packed<K>) {
      if (!e.template has_origin<Q>() && !e.template has_origin<K>()) {
        check_same_documents(name, &dimension_name<Q>, e.template documents<Q>(), &dimension_name<K>,
                             e.template documents<K>());
      }
    }
    if (!is_sharded<Q> && e.template extent<Q>() != e.template extent<K>() && !e.template has_origin<Q>()) {
      if (!e.template has_origin<K>()) {
        throw_origins_unsaid(name, &dimension_name<Q>, e.template extent<Q>(), &dimension_name<K>,
                             e.template extent<K>());
      }
      check_shown(name, &dimension_name<Q>, e.template extent<Q>(), &dimension_name<K>, e.template extent<K>(),
                  e.template first_position<K>(name));
    }
    return e.template first_position<Q>(name);
  }
  template <class Extents>
  std::ptrdiff_t key_origin(const Extents& e, const char* name) const {
    return given_ ? key_origin_ : e.template first_position<K>(name);
  }
  template <class Extents>
  void check(const Extents& e, const char* name) const {
    (void)query_origin(e, name);
    (void)key_origin(e, name);
  }
  /// Whether both origins were given, instead of those of the extents.
  [[nodiscard]] bool says_origins() const { return given_; }

 private:
  template <class D>
  static std::ptrdiff_t said(const D& d) {
    if constexpr (is_sharded<D>) {
      if (d.given_origin() == unknown_origin) { throw_part_without_origin("a mask", &dimension_name<D>); }
    }
    return d.origin();
  }

  std::ptrdiff_t query_origin_ = 0;
  std::ptrdiff_t key_origin_ = 0;
  bool given_ = false;
};

// Parts of related positions are compared as well: each says where it begins.
template <class Q, class K>
inline constexpr bool comparable =
    (related<Q, K> && !extents_differ<Q, K>) || ((is_sharded<Q> || is_sharded<K>) && related<whole_t<Q>, whole_t<K>>);
template <class Q, class K>
inline constexpr bool both_ordered = has_any(Q::abilities, ability::ordered) &&
                                     has_any(K::abilities, ability::ordered) && !is_merged<Q> && !is_merged<K>;

// Masks that no call can form, for compilers that continue after the error.
template <class Q, class K>
inline constexpr bool is_refused<causal<Q, K>> = !both_ordered<Q, K>;
template <class Q, class K>
inline constexpr bool is_refused<window<Q, K>> = !both_ordered<Q, K>;
template <class Q, class K>
inline constexpr bool is_refused<prefix<Q, K>> = !both_ordered<Q, K> || is_packed<Q>;
template <class Q, class K>
inline constexpr bool is_refused<document<Q, K>> = !is_packed<Q> || !is_packed<K> || !related<Q, K>;

// The positions of a symbolic mask, and why they cannot be compared.
template <class Op, class Q, class K>
using positions_error =
    either_t<!both_ordered<Q, K>, ERROR_R13_needs_ordered_positions<Op, over<about_t<Q>, about_t<K>>>,
             ERROR_R7_query_and_key_positions_are_related_or_have_origins<Op, over<about_t<Q>, about_t<K>>>>;

}  // namespace detail

/// A mask: visible where true. One whose dimensions have no positions to compare is none: it was reported where it was
/// formed.
template <class M>
concept mask = detail::mask_like<M> && !detail::is_refused<M>;

/// Every key up to the query's own position is visible.
///
///   visible(i, j) = position of key j <= position of query i
///
/// Positions are those of the extents (`starting_at`), or given here: `causal<seq, key>{starting_at(seq{1}, 41),
/// key{42}}`. Unrelated dimensions, and static extents that differ, need origins given here (R7); run-time extents that
/// differ throw `origin_error` unless an origin was said, that of the queries where keys are beyond them.
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
  causal(Error* = nullptr) DIMWISE_DETAIL_REFUSED(Error);
  /// The same with said origins: `causal<seq, src>(starting_at(seq{2}, 5), src{7})`.
  causal(const Q& q, const K& k)
    requires(detail::both_ordered<Q, K>)
      : detail::related_positions<Q, K>(q, k) {}
  template <
      class Error = ERROR_R1_operation_takes_other_arguments<op::causal, over<detail::about_t<Q>, detail::about_t<K>>>>
  explicit causal(detail::any_argument, ...) DIMWISE_DETAIL_REFUSED(Error);

  [[nodiscard]] static bool visible(std::ptrdiff_t q, std::ptrdiff_t k) { return k <= q; }
};

/// Keys at most `left` before and `right` after the query's position are visible; no limit where it is negative.
template <class Q, class K>
class window : public detail::mask_tag, public detail::related_positions<Q, K> {
 public:
  using facts = detail::mask_facts<detail::list<Q, K>, detail::list<K>, false>;
  static constexpr const char* name = "window";

  /// So many positions to the left and to the right are visible; all where the number is negative.
  window(std::ptrdiff_t left, std::ptrdiff_t right)
    requires(detail::comparable<Q, K> && detail::both_ordered<Q, K>)
      : left_(left), right_(right) {}
  template <class Error = detail::positions_error<op::window, Q, K>>
    requires(!detail::comparable<Q, K> || !detail::both_ordered<Q, K>)
  window(std::ptrdiff_t left, std::ptrdiff_t right, Error* = nullptr) DIMWISE_DETAIL_REFUSED(Error);
  /// The same with said origins.
  window(std::ptrdiff_t left, std::ptrdiff_t right, const Q& q, const K& k)
    requires(detail::both_ordered<Q, K>)
      : detail::related_positions<Q, K>(q, k), left_(left), right_(right) {}

  template <
      class Error = ERROR_R1_operation_takes_other_arguments<op::window, over<detail::about_t<Q>, detail::about_t<K>>>>
  explicit window(...) DIMWISE_DETAIL_REFUSED(Error);

  // Differences of positions, which are no further than 2^60 from 0: sums of a position and a limit may overflow.
  [[nodiscard]] bool visible(std::ptrdiff_t q, std::ptrdiff_t k) const {
    return (left_ < 0 || q - k <= left_) && (right_ < 0 || k - q <= right_);
  }
  /// How far it sees to each side; negative: to the end.
  [[nodiscard]] std::ptrdiff_t left() const { return left_; }
  [[nodiscard]] std::ptrdiff_t right() const { return right_; }

 private:
  std::ptrdiff_t left_;
  std::ptrdiff_t right_;
};

/// The first `length` positions are visible to all, the others as in `causal`: a prefix language model.
///
/// Rejects packed positions: every document has a prefix of its own, which a given mask says (R19).
template <class Q, class K>
class prefix : public detail::mask_tag, public detail::related_positions<Q, K> {
 public:
  using facts = detail::mask_facts<detail::list<Q, K>, detail::list<K>, false>;
  static constexpr const char* name = "prefix";

  /// The first `length` keys are visible to all.
  explicit prefix(std::ptrdiff_t length)
    requires(detail::comparable<Q, K> && detail::both_ordered<Q, K> && !detail::is_packed<Q>)
      : length_(static_cast<std::ptrdiff_t>(detail::given_count(length).checked("prefix"))) {}
  template <class Error = detail::either_t<detail::is_packed<Q>,
                                           ERROR_R19_packed_positions_need_their_documents<
                                               op::prefix, over<detail::about_t<Q>, detail::about_t<K>>>,
                                           detail::positions_error<op::prefix, Q, K>>>
    requires(!detail::comparable<Q, K> || !detail::both_ordered<Q, K> || detail::is_packed<Q>)
  explicit prefix(std::ptrdiff_t length, Error* = nullptr) DIMWISE_DETAIL_REFUSED(Error);
  template <
      class Error = ERROR_R1_operation_takes_other_arguments<op::prefix, over<detail::about_t<Q>, detail::about_t<K>>>>
  explicit prefix(...) DIMWISE_DETAIL_REFUSED(Error);

  [[nodiscard]] bool visible(std::ptrdiff_t q, std::ptrdiff_t k) const { return k < length_ || k <= q; }
  /// The number of keys that are visible to all.
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
  document(Error* = nullptr) DIMWISE_DETAIL_REFUSED(Error);

  template <class Extents>
  void check(const Extents& e, const char*) const {
    if (!e.template documents<Q>().known() || !e.template documents<K>().known()) {
      detail::raise<extent_error>(error{} << "document: " << detail::dimension_name<Q>() << " and "
                                          << detail::dimension_name<K>()
                                          << " need the lengths of their documents (R19)");
    }
    const extent_t queries = e.template documents<Q>().size();
    const extent_t keys = e.template documents<K>().size();
    if (queries != keys) {
      detail::raise<extent_error>(error{} << "document: " << detail::dimension_name<Q>() << " has " << queries
                                          << " documents and " << detail::dimension_name<K>() << " has " << keys
                                          << "; queries attend to the document of the same number, and one without "
                                             "positions has the length 0 (R19)");
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

}  // namespace dimwise

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/expr/masks/position_masks_definitions.hpp>
#endif

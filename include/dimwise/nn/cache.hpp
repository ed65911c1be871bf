// SPDX-License-Identifier: BSL-1.0
// dimwise/nn/cache.hpp -- a cache of keys and values: what it holds, where it grows and how far are parts of its type.
//
// Layer: nn. Keys and values are read where they lie: one step of decoding costs one pass over them and copies nothing.
// Tests: tests/nn/cache.test.cpp, tests/compile_fail/cache/
//
//   nn::kv_cache<key, nn::capacity<2048>, nn::keys<float, batch, kv_heads, key, d_k, rotated<d_k>>,
//                nn::values<float, batch, kv_heads, key, d_v>> cache(batch{2});
//   cache.append(k, v);                                             // both at once, positions go on where the cache ends
//   tensor y = contract<key>(softmax<key>(masked(scores<d_k>(q, cache.keys()), causal<seq, key>{})), cache.values());
#pragma once

#include <span>
#include <utility>

#include <dimwise/nn/cache_storage.hpp>

namespace dimwise::nn {

/// Keeps everything, up to so many positions; more throw `extent_error`.
template <extent_t Positions = at_run_time>
struct capacity {};
/// Keeps the last positions, as many as a query of a window of this extent sees (itself included). Keys stay contiguous:
/// they slide through a buffer of twice the window and are moved to its front once in a window of positions.
template <extent_t Window>
struct sliding {};

}  // namespace dimwise::nn

namespace dimwise::detail {

template <class Kind>
struct cache_kind;
template <extent_t N>
struct cache_kind<nn::capacity<N>> {
  static constexpr bool slides = false;
  static constexpr extent_t buffer = N;
};
template <extent_t W>
struct cache_kind<nn::sliding<W>> {
  static constexpr bool slides = true;
  static constexpr extent_t window = W;
  static constexpr extent_t buffer = 2 * W;
};

// What a cache is constructed from: the extents of keys and values that the compiler does not know.
template <class Key, class Keys, class Values, bool KeyGiven>
struct cache_extents {
  using all = union_t<dims_t<Keys>, dims_t<Values>>;
  using type = make_shape_t<std::conditional_t<KeyGiven, all, difference_t<all, list<Key>>>, list<>>;
};

}  // namespace dimwise::detail

namespace dimwise::nn {

/// The cache of keys and values along Key; `Kind` is `capacity<…>`, `sliding<…>` or `paged<…>`.
template <class Key, class Kind, class Keys, class Values>
class kv_cache;

/// A cache in one buffer: its own, or one of somebody else.
///
/// Refuses values that are rotated (R9), keys and values with other heads, a Key whose extent the compiler knows, elements
/// of 4 bits along Key (R10), positions of several documents (R19).
template <class Key, class Kind, class KeyElement, class... KeyDims, class ValueElement, class... ValueDims>
class kv_cache<Key, Kind, keys<KeyElement, KeyDims...>, values<ValueElement, ValueDims...>> {
  using keys_shape = detail::make_shape_t<detail::dims_t<shape<KeyDims...>>, detail::marks_t<shape<KeyDims...>>>;
  using values_shape = detail::make_shape_t<detail::dims_t<shape<ValueDims...>>, detail::marks_t<shape<ValueDims...>>>;
  using verdict = rule::cache<Key, keys_shape, values_shape, detail::cache_element<KeyElement>::packed, detail::cache_element<ValueElement>::packed>;
  static_assert(detail::holds<allowed<verdict>, verdict>, "R9, R10, R19: a cache holds keys and values that grow together, values not rotated");

  using kind = detail::cache_kind<Kind>;
  using key_side = detail::cache_side<Key, KeyElement, keys_shape>;
  using value_side = detail::cache_side<Key, ValueElement, values_shape>;
  static constexpr bool key_given = kind::buffer == at_run_time;
  using all_extents = typename detail::cache_extents<Key, keys_shape, values_shape, key_given>::type;

 public:
  using key_dimension = Key;
  using key_scale = typename key_side::scale_type;
  using value_scale = typename value_side::scale_type;
  using key_element = typename key_side::element;
  using value_element = typename value_side::element;

  /// An empty cache with these run-time extents; that of Key is its capacity where the type does not say one.
  template <class... Extents>
    requires(!key_side::scaled && !value_side::scaled && detail::gives_extents<all_extents, Extents...>)
  explicit kv_cache(const Extents&... given) : kv_cache(gathered(given...), {}, {}) {}
  template <class... Extents, class Error = ERROR_R15_run_time_extents_are_given_once<all_extents, over<Extents...>>>
    requires((dimension_type<Extents> && ...) && !detail::gives_extents<all_extents, Extents...>)
  explicit kv_cache(const Extents&... given) = delete;
  /// The same with the scales of keys and values that are stored as whole numbers.
  template <class... Extents>
    requires(key_side::scaled && value_side::scaled && detail::gives_extents<all_extents, Extents...>)
  kv_cache(const key_scale& of_keys, const value_scale& of_values, const Extents&... given) : kv_cache(gathered(given...), of_keys, of_values) {}

  /// An empty cache over somebody else's memory, which lives longer; throws `extent_error` where its extent is another.
  template <class... Extents>
    requires(!key_side::scaled && !value_side::scaled && detail::gives_extents<all_extents, Extents...>)
  kv_cache(std::span<key_element> of_keys, std::span<value_element> of_values, const Extents&... given)
      : kv_cache(of_keys, of_values, gathered(given...), {}, {}) {}
  template <class... Extents>
    requires(key_side::scaled && value_side::scaled && detail::gives_extents<all_extents, Extents...>)
  kv_cache(std::span<key_element> of_keys, std::span<value_element> of_values, const key_scale& k_scale, const value_scale& v_scale,
           const Extents&... given)
      : kv_cache(of_keys, of_values, gathered(given...), k_scale, v_scale) {}

  /// A copy has memory of its own, in which stand the elements that are held; what was moved from takes none.
  kv_cache(const kv_cache& other)
      : keys_(other.keys_, other.used_ - other.held_, other.held_), values_(other.values_, other.used_ - other.held_, other.held_), used_(other.used_), held_(other.held_), end_(other.end_) {}
  kv_cache(kv_cache&& other) noexcept
      : keys_(static_cast<key_side&&>(other.keys_)),
        values_(static_cast<value_side&&>(other.values_)),
        used_(std::exchange(other.used_, 0)),
        held_(std::exchange(other.held_, 0)),
        end_(std::exchange(other.end_, 0)) {}
  /// Takes the other's elements, or a copy of them; where a copy has no memory, the cache stays as it was.
  kv_cache& operator=(kv_cache other) noexcept {
    keys_ = static_cast<key_side&&>(other.keys_);
    values_ = static_cast<value_side&&>(other.values_);
    used_ = other.used_;
    held_ = other.held_;
    end_ = other.end_;
    return *this;
  }
  ~kv_cache() = default;

  /// Keys and values behind those that are there, at the positions from `end()` on.
  ///
  ///   [Key, rest] and [Key, rest]: the cache's dimensions in any order, the cache's rotation
  ///
  /// Refuses other positions (R3), other dimensions (R10), keys rotated otherwise and rotated values (R9), keys for
  /// values (R16). Throws `extent_error` where extents differ (R15) or do not fit, `origin_error` where keys or values
  /// say other positions than these; rotated keys that say none were turned from position 0. Whatever is thrown, the
  /// cache stays as it was.
  template <operand K, operand V, class Verdict = rule::append<Key, keys_shape, values_shape, detail::shape_of<K>, detail::shape_of<V>>>
    requires allowed<Verdict>
  void append(const K& k, const V& v) {
    const extent_t n = detail::check_appended<Key, key_side, value_side>(keys_, values_, k.extents(), v.extents(), end_);
    check_room(n);
    const typename key_side::floats new_keys = k;
    const typename value_side::floats new_values = v;
    if constexpr (kind::slides) { slide(n); }
    keys_.write(used_, typename key_side::floats_view(new_keys));
    values_.write(used_, typename value_side::floats_view(new_values));
    used_ += n;
    end_ += static_cast<std::ptrdiff_t>(n);
    if constexpr (kind::slides) {
      const extent_t seen = kind::window - 1 + n;
      held_ = held_ + n < seen ? held_ + n : seen;
    } else {
      held_ = used_;
    }
  }
  template <operand K, operand V, class Verdict = rule::append<Key, keys_shape, values_shape, detail::shape_of<K>, detail::shape_of<V>>>
    requires refused<Verdict>
  Verdict append(const K& k, const V& v);
  /// Keys without values, or values without keys (R10).
  template <operand X, class Error = ERROR_R10_keys_and_values_grow_together<op::append, over<detail::about_t<Key>>, detail::operand_t<detail::shape_of<X>>>>
  Error append(const X& x);

  /// The keys that are held, with the positions they stand at; read where they lie, until the next `append`.
  [[nodiscard]] auto keys() const { return keys_.read(used_ - held_, held()); }
  /// The values, at the same positions.
  [[nodiscard]] auto values() const { return values_.read(used_ - held_, held()); }

  /// How many positions are held.
  [[nodiscard]] extent_t length() const { return held_; }
  /// How many positions fit; of a window, how many are kept.
  [[nodiscard]] extent_t limit() const {
    const extent_t buffer = keys_.extents().template extent<Key>();
    return kind::slides ? buffer / 2 : buffer;
  }
  /// The position that the next key will stand at.
  [[nodiscard]] std::ptrdiff_t end() const { return end_; }
  /// The extent of the positions that come next: `cache.next(seq{1})`.
  template <class D>
  [[nodiscard]] D next(const D& count) const {
    return starting_at(count, end_);
  }
  /// What lies in the memory already becomes the first `count` positions: a cache over memory that somebody filled.
  /// Throws `extent_error` where there is less room, and changes nothing then.
  void adopt(extent_t count)
    requires(!kind::slides)
  {
    if (count > limit()) {
      detail::raise<extent_error>(error{} << "adopt: " << count << " positions of " << detail::dimension_name<Key>() << " do not fit, the cache takes " << limit()
                                          << " (R10)");
    }
    used_ = held_ = count;
    end_ = static_cast<std::ptrdiff_t>(count);
  }
  /// Forgets everything; the next position is this.
  void restart(std::ptrdiff_t position = 0) {
    used_ = held_ = 0;
    end_ = position;
  }
  /// Forgets the last `count` positions, as drafts that were refused; throws `extent_error` where there are fewer.
  void forget(extent_t count)
    requires(!kind::slides)
  {
    if (count > held_) {
      detail::raise<extent_error>(error{} << "forget: the cache holds " << held_ << " positions of " << detail::dimension_name<Key>() << ", not " << count
                                          << " (R10)");
    }
    used_ -= count;
    held_ = used_;
    end_ -= static_cast<std::ptrdiff_t>(count);
  }

 private:
  using extents_type = detail::extents_of<detail::union_t<typename key_side::extents_type::atoms, typename value_side::extents_type::atoms>>;

  kv_cache(const extents_type& e, const key_scale& k_scale, const value_scale& v_scale)
      : keys_(detail::carry<typename key_side::extents_type::atoms>("kv_cache", e), k_scale),
        values_(detail::carry<typename value_side::extents_type::atoms>("kv_cache", e), v_scale) {}
  kv_cache(std::span<key_element> k, std::span<value_element> v, const extents_type& e, const key_scale& k_scale, const value_scale& v_scale)
      : keys_(k, detail::carry<typename key_side::extents_type::atoms>("kv_cache", e), k_scale),
        values_(v, detail::carry<typename value_side::extents_type::atoms>("kv_cache", e), v_scale) {}

  template <class... Extents>
  static extents_type gathered(const Extents&... given) {
    extents_type e;
    (e.set(given), ...);
    if constexpr (!key_given) { e.set(Key{kind::buffer}); }
    return e;
  }
  [[nodiscard]] Key held() const { return starting_at(Key{held_}, end_ - static_cast<std::ptrdiff_t>(held_)); }

  void check_room(extent_t n) const {
    if (kind::slides ? n > limit() : n > limit() - used_) {
      detail::raise<extent_error>(error{} << "append: " << n << " positions of " << detail::dimension_name<Key>() << " do not fit, the cache holds " << held_
                                          << " and takes " << limit() << (kind::slides ? " at once (R10)" : " (R10)"));
    }
  }
  // Makes room for n more: what a query of the next positions still sees goes to the front. Copied first, so that
  // nothing is moved where there is no memory for the copies.
  void slide(extent_t n) {
    if (used_ + n <= kind::buffer) { return; }
    const extent_t kept = held_ < kind::window - 1 ? held_ : kind::window - 1;
    const auto k = keys_.take(used_ - kept, kept);
    const auto v = values_.take(used_ - kept, kept);
    keys_.put(0, k);
    values_.put(0, v);
    used_ = held_ = kept;
  }

  key_side keys_;
  value_side values_;
  extent_t used_ = 0;  // of the buffer
  extent_t held_ = 0;  // the last ones of those
  std::ptrdiff_t end_ = 0;
};

/// Attention over a cache: `scores_of(keys)` gives the scores, masked as they should be.
///
///   tensor y = nn::attend(cache, [&](const auto& k) { return masked(scores<d_k>(q, k), causal<seq, key>{}); });
template <class Key, class Kind, class Keys, class Values, class ScoresOf>
[[nodiscard]] auto attend(const kv_cache<Key, Kind, Keys, Values>& cache, const ScoresOf& scores_of) {
  return evaluate(contract<Key>(softmax<Key>(scores_of(cache.keys())), cache.values()));
}

}  // namespace dimwise::nn

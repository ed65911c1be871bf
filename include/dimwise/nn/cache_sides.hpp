// SPDX-License-Identifier: BSL-1.0
// dimwise/nn/cache_sides.hpp -- the common base of the KV caches: storage of keys and values, construction and append.
//
// Layer: nn. Used by cache.hpp and paged_cache.hpp.
// Tests: tests/nn/cache/cache.test.cpp, tests/nn/cache/paged.test.cpp, tests/compile_fail/cache/
#pragma once

#include <dimwise/eval/caches/storage.hpp>
#include <dimwise/expr/untracked.hpp>

#include <span>

namespace dimwise {

namespace op {
struct mask;  // NOLINT(bugprone-forward-declaration-namespace): the other mask is a concept
}  // namespace op

namespace detail {

// Queries whose positions are those of the keys' sequence.
template <class Q, class Key>
concept at_positions_of = dimension_type<Q> && comparable<Q, Key> && both_ordered<Q, Key>;
template <class D, class Key>
concept in_sequence_of = at_positions_of<D, Key> || std::is_same_v<D, Key>;
// The error of `cache.mask<Q...>()`; no type if the call is right.
template <class Key, class... Q>
struct mask_error {
  using type = ERROR_R1_operation_names_its_dimension<op::mask, over<Q...>>;
};
template <class Key, dimension_type Q>
struct mask_error<Key, Q> {
  using type = positions_error<op::causal, Q, Key>;
};
template <class Key, at_positions_of<Key> Q>
struct mask_error<Key, Q> {};
// The error of `cache.next(D{n})`; no type if D has positions of the keys' sequence.
template <class Key, class D>
struct next_error {};
template <class Key, dimension_type D>
  requires(!in_sequence_of<D, Key>)
struct next_error<Key, D> {
  using type = positions_error<op::next, D, Key>;
};

// Whether these are the constructor arguments of a cache: a scale for each quantized side (keys first), then the
// run-time extents.
template <class Extents, class Scales, class... Given>
inline constexpr bool gives_cache = false;
template <class Extents, class... Given>
inline constexpr bool gives_cache<Extents, list<>, Given...> = gives_extents<Extents, Given...>;
template <class Extents, class Scale, class... Scales, class First, class... Given>
inline constexpr bool gives_cache<Extents, list<Scale, Scales...>, First, Given...> =
    (std::is_convertible_v<const First&, Scale> ||
     (std::is_arithmetic_v<First> && dims_t<shape_of<Scale>>::size == 0)) &&
    gives_cache<Extents, list<Scales...>, Given...>;
// An argument that an error of the constructor names: a scale, an extent, or a number given in place of one.
template <class Given>
concept cache_setting = dimension_type<Given> || operand<Given> || std::is_arithmetic_v<Given>;

template <class Scales, class Given>
struct needs_scales;
template <class... Scales, class Given>
struct needs_scales<list<Scales...>, Given> {
  using type = ERROR_R10_whole_numbers_are_stored_by_scales<Given, operand_t<shape_of<Scales>>...>;
};
template <class Scales, class Given>
using error_of_scales = typename needs_scales<Scales, Given>::type;

// The keys and the values of a range of positions. The derived caches assert the verdict: an error in a base class is
// reported several times.
template <class Key, class Keys, class Values>
struct cache_sides;
template <class Key, class KeyElement, class... KeyDims, class ValueElement, class... ValueDims>
struct cache_sides<Key, nn::keys<KeyElement, KeyDims...>, nn::values<ValueElement, ValueDims...>> {
  using keys_shape = make_shape_t<dims_t<shape<KeyDims...>>, marks_t<shape<KeyDims...>>>;
  using values_shape = make_shape_t<dims_t<shape<ValueDims...>>, marks_t<shape<ValueDims...>>>;
  using verdict = rule::cache<Key, keys_shape, values_shape, cache_element<KeyElement>::packed,
                              cache_element<ValueElement>::packed>;

  using key_side = cache_side<Key, KeyElement, keys_shape>;
  using value_side = cache_side<Key, ValueElement, values_shape>;
  using key_scale = typename key_side::scale_type;
  using value_scale = typename value_side::scale_type;
  using key_floats = typename key_side::floats_view;
  using value_floats = typename value_side::floats_view;
  using extents_type =
      extents_of<union_t<typename key_side::extents_type::atoms, typename value_side::extents_type::atoms>>;

  // The run-time extents; includes Key if the type has no capacity.
  template <bool KeyGiven>
  using given_extents =
      make_shape_t<difference_t<union_t<dims_t<keys_shape>, dims_t<values_shape>>, list_if<!KeyGiven, Key>>, list<>>;
  using scales = join_t<list_if<key_side::scaled, key_scale>, list_if<value_side::scaled, value_scale>>;
  template <bool KeyGiven, class... Given>
  static constexpr bool gives = gives_cache<given_extents<KeyGiven>, scales, Given...>;

  template <bool KeyGiven, class... Given>
  using given_error = std::conditional_t<(scales::size > 0), error_of_scales<scales, over<Given...>>,
                                         extents_error<given_extents<KeyGiven>, Given...>>;

  struct settings {
    extents_type extents{};
    key_scale of_keys{};
    value_scale of_values{};

    template <class... Given>
    explicit settings(const Given&... given) {
      take<key_side::scaled, value_side::scaled>(given...);
    }
    [[nodiscard]] settings with(const Key& positions) const {
      settings result = *this;
      result.extents.set(positions);
      return result;
    }

   private:
    template <bool KeyScale, bool ValueScale, class... Given>
    void take(const Given&... given) {
      (extents.set(given), ...);
    }
    template <bool KeyScale, bool ValueScale, class First, class... Given>
      requires(KeyScale || ValueScale)
    void take(const First& scale, const Given&... given) {
      if constexpr (KeyScale) {
        of_keys = scale;
      } else {
        of_values = scale;
      }
      take<false, KeyScale && ValueScale>(given...);
    }
  };

  key_side keys;
  value_side values;

  explicit cache_sides(const settings& s)
      : keys(merge_extents<typename key_side::extents_type::atoms>("kv_cache", s.extents), s.of_keys),
        values(merge_extents<typename value_side::extents_type::atoms>("kv_cache", s.extents), s.of_values) {}
  cache_sides(std::span<typename key_side::element> of_keys, std::span<typename value_side::element> of_values,
              const settings& s)
      : keys(of_keys, merge_extents<typename key_side::extents_type::atoms>("kv_cache", s.extents), s.of_keys),
        values(of_values, merge_extents<typename value_side::extents_type::atoms>("kv_cache", s.extents), s.of_values) {
  }
  // Copies a range of positions into new memory.
  cache_sides(const cache_sides& other, std::size_t first, std::size_t count)
      : keys(other.keys, first, count), values(other.values, first, count) {}

  // Does not throw once the memory is allocated.
  void write(std::size_t first, const key_floats& k, const value_floats& v) const {
    keys.write(first, k);
    values.write(first, v);
  }
};

// Keys are appended without values, or values without keys.
template <class Key, class X>
using alone_error = ERROR_R10_keys_and_values_grow_together<op::append, over<about_t<Key>>, operand_t<shape_of<X>>>;

// Operations that all caches share; `Cache` decides whether the positions fit and where they are written.
template <class Cache, class Key, class Sides>
class cache_base {
  using keys_shape = typename Sides::keys_shape;
  using values_shape = typename Sides::values_shape;
  // Elements of a cache have no origin in a backward pass: keys and values are constants.
  template <class K, class V>
  using append_verdict =
      of_constants<op::append, rule::append<Key, keys_shape, values_shape, shape_of<K>, shape_of<V>>, K, V>;

 public:
  using key_scale = typename Sides::key_scale;
  using value_scale = typename Sides::value_scale;
  using key_element = typename Sides::key_side::element;
  using value_element = typename Sides::value_side::element;

  /// Appends keys and values at the positions from `end()` on.
  ///
  ///   [Key, rest] and [Key, rest]: the cache's dimensions in any order, with the cache's rotation
  ///
  /// Rejects other positions (R3), other dimensions (R10), differently rotated keys and rotated values (R9), swapped
  /// keys and values (R16), and tracked operands (R21). Throws `extent_error` if extents differ (R15) or do not fit,
  /// and `origin_error` if the operands have other positions than these or positions beyond 2^60. Rotated keys without
  /// an origin count from position 0. Throws `number_error` for NaN or infinity in a quantized side. After an exception
  /// the cache has not changed.
  template <operand K, operand V, class Verdict = append_verdict<K, V>>
    requires allowed<Verdict>
  void append(const K& k, const V& v) {
    Cache& self = static_cast<Cache&>(*this);
    const Sides& sides = self.any_sides();
    const extent_t n = check_appended<Key, typename Sides::key_side, typename Sides::value_side>(
        sides.keys, sides.values, k.extents(), v.extents(), self.end());
    self.check_room(n);
    (void)position_after(self.end(), n, "append", &dimension_name<Key>);
    const typename Sides::key_side::floats new_keys = k;
    const typename Sides::value_side::floats new_values = v;
    sides.keys.check_numbers(new_keys, "key");
    sides.values.check_numbers(new_values, "value");
    self.take_in(n, typename Sides::key_floats(new_keys), typename Sides::value_floats(new_values));
  }
  template <operand K, operand V, class Verdict = append_verdict<K, V>>
    requires refused<Verdict>
  Verdict append(const K& k, const V& v);
  /// Rejects keys without values, and values without keys (R10).
  template <operand X, class Error = alone_error<Key, X>>
  Error append(const X& x);
  template <class... Given>
    requires(refused_operand<Given> || ...)
  already_refused append(Given... given);

  /// The next positions as a dimension object with their origin: `cache.next(seq{1})`.
  template <in_sequence_of<Key> D>
  [[nodiscard]] D next(const D& count) const {
    return starting_at(count, static_cast<const Cache&>(*this).end());
  }
  /// Rejects features (R13) and positions of another sequence than the keys' (R7).
  template <class D, class Error = typename next_error<Key, D>::type>
  Error next(const D& count) const;
  /// Rejects a number (R1).
  template <class X, class Error = ERROR_R1_operation_takes_other_arguments<op::next, X>>
    requires(!dimension_type<X> && !refused_operand<X>)
  Error next(const X& count) const;
  template <refused_operand X>
  already_refused next(X count) const;

  /// The mask that this cache implies for queries at Q: each sees the keys up to its position, of a sliding cache the
  /// last ones of its window. Its window is that of the cache's type, so that no query asks for keys that are gone.
  ///
  ///   masked(scores<d_k>(q, cache.keys()), cache.mask<seq>())
  ///
  /// Rejects queries whose positions are not those of the keys' sequence (R7), and what has no positions (R13).
  // Without a requires-clause: clang shows why each candidate is ignored, and of a condition it says less.
  template <class Q, class = std::enable_if_t<at_positions_of<Q, Key>>>
  [[nodiscard]] auto mask() const {
    return static_cast<const Cache&>(*this).template own_mask<Q>();
  }
  template <class... Q, class Error = typename mask_error<Key, Q...>::type>
  DIMWISE_DETAIL_MEMBER_RESULT(Error)
  mask() const DIMWISE_DETAIL_MEMBER_SAYS(Error);

 protected:
  [[noreturn]] static void no_room(extent_t n, extent_t held, extent_t limit, const char* more = "") {
    raise<extent_error>(error{} << "append: " << n << " positions of " << dimension_name<Key>()
                                << " do not fit, the cache holds " << held << " and takes " << limit << more
                                << " (R10)");
  }
};

// The position after `restart`, and the number of positions after `forget`, are possible.
template <class Key>
void check_restart(std::ptrdiff_t position) {
  if (position < -farthest_origin || position > farthest_origin) {
    raise<origin_error>(error{} << "restart: position " << static_cast<long long>(position) << " of dimension "
                                << dimension_name<Key>() << " is beyond 2^60 (R7)");
  }
}
template <class Key>
void check_forgotten(extent_t count, extent_t held) {
  if (count > held) {
    raise<extent_error>(error{} << "forget: the cache holds " << held << " positions of " << dimension_name<Key>()
                                << ", not " << count << " (R10)");
  }
}

}  // namespace detail

}  // namespace dimwise

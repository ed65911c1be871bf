// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/caches/storage.hpp -- one side of a cache, keys or values: its memory, its bits per element, how it is
// read.
//
// Layer: eval. Used by nn/cache_sides.hpp, which puts keys beside values.
// Tests: tests/nn/cache/cache.test.cpp, tests/nn/cache/bfloat16.test.cpp
#pragma once

#include <dimwise/eval/caches/narrow.hpp>
#include <dimwise/eval/evaluate.hpp>
#include <dimwise/expr/elements/widen.hpp>
#include <dimwise/shape/rules/cache.hpp>
#include <dimwise/support/math.hpp>

#include <new>
#include <span>

namespace dimwise::nn {

/// The keys of a cache, in memory order with the dimension that grows: `keys<float, batch, kv_heads, key, d_k,
/// rotated<d_k, seq>>`.
///
/// Elements are `float`, `double`, `bfloat16`, `float16`, `int8_by<D…>` or `int4_by<D…>`; they are computed with as
/// floats.
template <class Element, class... DimsAndMarks>
struct keys {};
/// The values of a cache; never rotated (R9).
template <class Element, class... DimsAndMarks>
struct values {};

/// Elements as whole numbers of 8 bits times a scale along D…, one for all where there is none.
template <class... D>
struct int8_by {};
/// The same in 4 bits, two in a byte along the last dimension.
template <class... D>
struct int4_by {};

}  // namespace dimwise::nn

namespace dimwise::detail {

template <class Element>
struct cache_element {
  using stored = Element;
  using computed = either_t<real_element<Element>, Element, float>;
  using scale = no_scale;
  static constexpr bool packed = false;
};
template <class... D>
struct cache_element<nn::int8_by<D...>> {
  using stored = std::int8_t;
  using computed = float;
  using scale = tensor<float, D...>;
  static constexpr bool packed = false;
};
template <class... D>
struct cache_element<nn::int4_by<D...>> {
  using stored = int4_pair;
  using computed = float;
  using scale = tensor<float, D...>;
  static constexpr bool packed = true;
};

template <class Dims>
struct last_of;
template <class First, class... Rest>
struct last_of<list<First, Rest...>> {
  using type = element_t<sizeof...(Rest), list<First, Rest...>>;
};

// The extents of the stored elements; a packed feature counts bytes.
template <class Stored, class Packed, class Extents>
extents_for<Stored> stored_extents(const Extents& e) {
  auto to = merge_extents<typename extents_for<Stored>::atoms>("kv_cache", e);
  if constexpr (!std::is_same_v<Packed, nothing>) { to.set(half<Packed>{bytes_of_pairs(e.template extent<Packed>())}); }
  return to;
}

// Keys that have positions must continue those of the cache. Rotated keys always have them: from 0, if not
// otherwise.
template <class Key, bool Rotated, class Extents>
void check_positions(const Extents& e, std::ptrdiff_t end) {
  const std::ptrdiff_t origin = e.template origin<Key>("append");
  if ((Rotated || e.template has_origin<Key>()) && origin != end) {
    raise<origin_error>(error{} << "append: the first position of " << dimension_name<Key>() << " is "
                                << static_cast<long long>(origin) << ", but the cache ends at "
                                << static_cast<long long>(end)
                                << "; a text that continues takes its extent from next of the cache, another text "
                                   "begins after restart (R9, R10)");
  }
}

template <class Key, class Element, class Shape>
class cache_side {
 public:
  using format = cache_element<Element>;
  using shape_type = Shape;
  using element = typename format::stored;
  using scale_type = typename format::scale;
  using extents_type = extents_for<Shape>;
  static constexpr bool scaled = !std::is_same_v<scale_type, no_scale>;
  using packed = either_t<format::packed, typename last_of<dims_t<Shape>>::type, nothing>;
  using stored_shape = make_shape_t<replace_t<dims_t<Shape>, packed, list<half<packed>>>, marks_t<Shape>>;
  using stored_tensor = tensor_of<element, stored_shape>;
  using memory_type = view_of<element, stored_shape>;
  using const_memory_type = view_of<const element, stored_shape>;
  /// Appended values are computed as this type before anything is written.
  using floats = tensor_of<typename format::computed, Shape>;
  using floats_view = view_of<const typename format::computed, Shape>;

  cache_side(const extents_type& e, const scale_type& scale)
      : whole_(e), own_(room_for(e)), memory_(own_), scale_(scale) {
    check_scale();
  }
  cache_side(std::span<element> memory, const extents_type& e, const scale_type& scale)
      : whole_(e), memory_(memory_type::over(memory, stored_extents<stored_shape, packed>(e))), scale_(scale) {
    check_scale();
  }
  // A copy has memory of its own, also where the cache borrows its memory, and the elements that are held.
  cache_side(const cache_side& other, std::size_t first, std::size_t count) : cache_side(other.whole_, other.scale_) {
    store(memory_.within(first, Key{count}), const_memory_type(other.memory_.within(first, Key{count})));
  }
  cache_side(const cache_side&) = delete;
  cache_side& operator=(const cache_side&) = delete;
  // A moved-from cache accepts no positions.
  cache_side(cache_side&& other) noexcept
      : whole_(other.whole_),
        own_(static_cast<stored_tensor&&>(other.own_)),
        memory_(other.memory_),
        scale_(other.scale_) {
    other.let_go();
  }
  cache_side& operator=(cache_side&& other) noexcept {
    if (this != &other) {
      whole_ = other.whole_;
      own_ = static_cast<stored_tensor&&>(other.own_);
      point_at(other.memory_);
      scale_ = other.scale_;
      other.let_go();
    }
    return *this;
  }
  ~cache_side() = default;

  /// Elements [first, first + |count|) along Key, as floats, at the positions that `count` says.
  [[nodiscard]] auto read(std::size_t first, const Key& count) const {
    const const_memory_type stored(memory_.within(first, count));
    if constexpr (format::packed) {
      return dequantised<packed>(stored, scale_, feature());
    } else if constexpr (scaled) {
      return dequantised(stored, scale_);
    } else if constexpr (is_half_precision<element>) {
      return widened(stored);
    } else {
      return stored;
    }
  }
  /// Whole numbers hold no NaN and no infinity: a number in their place would be wrong in silence.
  void check_numbers([[maybe_unused]] const floats& x, [[maybe_unused]] const char* what) const {
    if constexpr (scaled) {
      for (const auto number : x.values()) {
        if (!math::isfinite(number)) {
          raise<number_error>(error{} << "append: a " << what << " is " << (math::isnan(number) ? "NaN" : "infinite")
                                      << ", whole numbers of " << (format::packed ? 4 : 8) << " bits along "
                                      << dimension_name<Key>() << " hold finite numbers");
        }
      }
    }
  }
  /// Allocates nothing, throws nothing once the elements fit into the memory.
  void write(std::size_t first, const floats_view& x) const {
    const memory_type to = memory_.within(first, Key{x.extents().template extent<Key>()});
    if constexpr (format::packed) {
      store_packed<packed>(to, x, scale_);
    } else {
      store(to, x, scale_);
    }
  }
  /// A copy of some elements as they are stored, and back.
  [[nodiscard]] stored_tensor take(std::size_t first, std::size_t count) const {
    return stored_tensor(memory_.within(first, Key{count}));
  }
  void put(std::size_t first, const stored_tensor& x) const {
    store(memory_.within(first, Key{x.extents().template extent<Key>()}), const_memory_type(x));
  }

  [[nodiscard]] const extents_type& extents() const { return whole_; }
  [[nodiscard]] const scale_type& scale() const { return scale_; }

 private:
  [[nodiscard]] auto feature() const {
    packed f;
    if constexpr (packed::static_extent == at_run_time) { f = packed{whole_.template extent<packed>()}; }
    return f;
  }
  // The caches of a text are read whole for each word.
  [[nodiscard]] static stored_tensor room_for(const extents_type& e) {
    const weights_together in_large_pages(weights_together::block::kept_or_fresh);
    return stored_tensor::for_overwriting(stored_extents<stored_shape, packed>(e));
  }
  // Assignment to a view writes elements.
  void point_at(const memory_type& memory) {
    memory_.~memory_type();
    new (&memory_) memory_type(memory);
  }
  void let_go() {
    whole_.template of_atom<Key>().extent = 0;
    point_at(memory_type::over({}, stored_extents<stored_shape, packed>(whole_)));
  }
  void check_scale() const {
    if constexpr (scaled) {
      static_assert(is_subset<dims_t<shape_of<scale_type>>, difference_t<dims_t<Shape>, list<Key>>>,
                    "R8: the scale has a dimension that the cache lacks, or the one that grows");
      (void)merge_extents<typename extents_type::atoms>("kv_cache", whole_, scale_.extents());
      for (const float factor : scale_.values()) {
        if (!math::isfinite(factor) || factor == 0) {
          raise<number_error>(error{} << "kv_cache: a scale is "
                                      << (factor == 0           ? "0"
                                          : math::isnan(factor) ? "NaN"
                                                                : "infinite")
                                      << ", the scale of whole numbers is finite and not 0");
        }
      }
    }
  }

  extents_type whole_;
  stored_tensor own_;
  memory_type memory_;
  [[no_unique_address]] scale_type scale_;
};

// How many positions keys and values bring: their other extents are the cache's (R15), their positions continue its
// own.
template <class Key, class KeySide, class ValueSide, class K, class V>
extent_t check_appended(const KeySide& keys, const ValueSide& values, const K& k, const V& v, std::ptrdiff_t end) {
  using atoms = union_t<typename KeySide::extents_type::atoms, typename ValueSide::extents_type::atoms>;
  const auto given = merge_extents<atoms>("append", k, v);
  (void)merge_extents<difference_t<atoms, list<Key>>>("append", given, keys.extents(), values.extents());
  check_positions<Key, (marked_t<rotated, marks_t<typename KeySide::shape_type>>::size > 0)>(k, end);
  check_positions<Key, false>(v, end);
  return given.template extent<Key>();
}

}  // namespace dimwise::detail

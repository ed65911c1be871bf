// SPDX-License-Identifier: BSL-1.0
// dimwise/ranks/kv_cache.hpp -- the KV cache of a sequence on several ranks: each one holds a stripe of the positions.
//
// Layer: ranks. The storage is that of nn::kv_cache. Stripes: however long the text is, the ranks hold equally many
// positions, up to one.
// Tests: tests/ranks/kv_cache.test.cpp, tests/compile_fail/collectives/
//
//   using key_here = shard<key, sp, striped>;
//   ranks::kv_cache<key_here, nn::capacity<4096>, nn::keys<float, batch, kv_heads, key_here, d_k>,
//                   nn::values<float, batch, kv_heads, key_here, d_v>> cache(grid, batch{1});
//   cache.append(k, v);                  // [key, …], the same on all ranks: each one stores its own positions
//   tensor y = ring_attention<key_here>(masked(scores<d_k>(q, cache.keys()), cache.mask<seq>()), cache.values(), grid);
#pragma once

#include <dimwise/nn/cache.hpp>
#include <dimwise/ranks/collectives.hpp>

namespace dimwise::detail {

// Rows of D, in memory order: `outer` blocks of the extent of D times `inner` elements.
struct rows_along {
  std::size_t outer;
  std::size_t inner;
};
template <class D, class... Before, class Extents>
rows_along rows_of(list<Before...>, const Extents& e) {
  rows_along r{1, 1};
  bool after = false;
  const auto one = [&](bool is_it, std::size_t extent) {
    if (is_it) {
      after = true;
    } else {
      (after ? r.inner : r.outer) *= extent;
    }
  };
  (one(std::is_same_v<Before, D>, e.template extent<Before>()), ...);
  return r;
}

// The elements first, first + step, … of a tensor along D, as the part S of it.
template <class D, class S, class Here, class Whole>
Here every_nth_of(const Whole& x, std::size_t first, std::size_t step, const S& part) {
  using dims = dims_t<shape_of<Whole>>;
  auto e = merge_extents<typename Here::extents_type::atoms>("append", extents_beside<shape_of<Whole>, D>(x.extents()));
  e.set(part);
  auto here = Here::for_overwriting(e);
  const rows_along rows = rows_of<D>(dims{}, x.extents());
  const std::size_t n = x.extents().template extent<D>(), own = part.extent();
  auto* to = here.overwrite();
  for (std::size_t o = 0; o < rows.outer; ++o) {
    for (std::size_t i = 0; i < own; ++i, to += rows.inner) {
      copy_elements(x.data() + (o * n + first + i * step) * rows.inner, rows.inner, to);
    }
  }
  return here;
}

template <class Key, class Keys, class Values>
using ring_cache_verdict =
    typename decltype(judge_cache<Key, typename cache_sides<Key, Keys, Values>::keys_shape,
                                  typename cache_sides<Key, Keys, Values>::values_shape,
                                  cache_sides<Key, Keys, Values>::key_side::format::packed,
                                  cache_sides<Key, Keys, Values>::value_side::format::packed>())::type;

}  // namespace dimwise::detail

namespace dimwise::detail {
template <class Key>
using cache_of_parts_error = ERROR_R24_operation_goes_over_a_shard<op::append, over<about_t<Key>>>;
}  // namespace dimwise::detail

namespace dimwise::ranks {

/// The KV cache along the stripe Key of a dimension: position p of the text is on rank (p − start) mod N.
template <class Key, class Kind, class Keys, class Values>
class kv_cache {
  static_assert(dimwise::detail::holds < sizeof(Key) == 0, dimwise::detail::cache_of_parts_error < Key >>,
                "R10, R24: a cache on several ranks goes along a stripe, shard<key, sp, striped>, and keeps all "
                "positions, nn::capacity<N>: pages and sliding windows are caches of one rank; a window is a mask");

 public:
  /// Takes anything, so that the assertion is the only error of a line that makes a cache.
  template <class... Given>
  explicit kv_cache(const Given&...) {}
};

/// A KV cache of which each rank along a mesh axis holds its stripe. `capacity<N>` counts the positions of all ranks.
///
/// Every rank calls the same functions with the same positions. Rejects a Key that is not in stripes (R24), pages and
/// windows (R10), and what `nn::kv_cache` rejects: rotated values (R9), keys and values with different heads, 4-bit
/// elements along Key (R10).
template <class Whole, class M, extent_t Positions, class KeyElement, class... KeyDims, class ValueElement,
          class... ValueDims>
class kv_cache<shard<Whole, M, striped>, nn::capacity<Positions>, nn::keys<KeyElement, KeyDims...>,
               nn::values<ValueElement, ValueDims...>>
    : public dimwise::detail::members_of_other_kinds<shard<Whole, M, striped>> {
  using Key = shard<Whole, M, striped>;
  using sides =
      dimwise::detail::cache_sides<Key, nn::keys<KeyElement, KeyDims...>, nn::values<ValueElement, ValueDims...>>;
  using verdict = dimwise::detail::ring_cache_verdict<Key, nn::keys<KeyElement, KeyDims...>,
                                                      nn::values<ValueElement, ValueDims...>>;
  static_assert(dimwise::detail::holds<allowed<verdict>, verdict>,
                "R9, R10, R19: a cache holds keys and values that grow together, values not rotated");
  using settings = typename sides::settings;
  static constexpr bool capacity_given = Positions == at_run_time;
  using keys_shape = typename sides::keys_shape;
  using values_shape = typename sides::values_shape;
  using all_keys = dimwise::detail::exchanged_t<Key, Whole, keys_shape>;
  using all_values = dimwise::detail::exchanged_t<Key, Whole, values_shape>;
  template <class K, class V>
  using append_verdict = dimwise::detail::of_constants<
      op::append,
      typename decltype(dimwise::detail::judge_append<Whole, all_keys, all_values, dimwise::detail::shape_of<K>,
                                                      dimwise::detail::shape_of<V>>())::type,
      K, V>;
  template <class K, class V>
  using part_verdict = dimwise::detail::of_constants<
      op::append,
      typename decltype(dimwise::detail::judge_append<Key, keys_shape, values_shape, dimwise::detail::shape_of<K>,
                                                      dimwise::detail::shape_of<V>>())::type,
      K, V>;

 public:
  /// An empty cache with these run-time extents, over the ranks of the mesh along the axis of Key.
  template <class... Axes, class... Given>
    requires(mesh<Axes...>::template has<M> && !capacity_given && sides::template gives<false, Given...>)
  explicit kv_cache(const mesh<Axes...>& grid, const Given&... given)
      : along_(grid.template along<M>()), limit_(Positions), sides_(settings(given...).with(Key{part_of(Positions)})) {}
  /// The same, where the type does not say how many positions fit: `kv_cache(grid, key{4096}, batch{1})`.
  template <class... Axes, class... Given>
    requires(mesh<Axes...>::template has<M> && capacity_given && sides::template gives<false, Given...>)
  explicit kv_cache(const mesh<Axes...>& grid, const Whole& positions, const Given&... given)
      : along_(grid.template along<M>()),
        limit_(positions.extent()),
        sides_(settings(given...).with(Key{part_of(positions.extent())})) {}

  kv_cache(const kv_cache&) = delete;
  kv_cache& operator=(const kv_cache&) = delete;
  /// A moved-from cache has capacity 0.
  kv_cache(kv_cache&& other) noexcept
      : along_(other.along_),
        limit_(std::exchange(other.limit_, 0)),
        sides_(static_cast<sides&&>(other.sides_)),
        length_(std::exchange(other.length_, 0)),
        start_(std::exchange(other.start_, 0)) {}
  kv_cache& operator=(kv_cache&& other) noexcept {
    kv_cache taken(static_cast<kv_cache&&>(other));
    along_ = taken.along_;
    limit_ = taken.limit_;
    sides_ = static_cast<sides&&>(taken.sides_);
    length_ = taken.length_;
    start_ = taken.start_;
    return *this;
  }
  ~kv_cache() = default;

  /// Appends keys and values at the positions from `end()` on, which every rank passes: it stores its own ones.
  ///
  ///   [key, rest] and [key, rest]: the cache's dimensions in any order, with the whole dimension
  ///
  /// Rejects and throws what `nn::kv_cache::append` does. After an exception the cache of this rank has not changed.
  template <operand K, operand V, class Verdict = append_verdict<K, V>>
    requires allowed<Verdict>
  void append(const K& k, const V& v) {
    detail::taking_part(along_, "append", [&] { append_whole(k, v); });
  }
  template <operand K, operand V, class Verdict = append_verdict<K, V>>
    requires refused<Verdict>
  Verdict append(const K& k, const V& v);
  /// Rejects keys without values, and values without keys (R10).
  template <operand X, class Error = dimwise::detail::alone_error<Key, X>>
  Error append(const X& x);
  template <class... Given>
    requires(dimwise::detail::refused_operand<Given> || ...)
  dimwise::detail::already_refused append(Given... given);
  /// Appends a prompt that the ranks divide: each one passes its stripe, `part_here` of `next(key{n})`.
  ///
  ///   [Key, rest] and [Key, rest]
  ///
  /// Throws `extent_error` if the stripes of the ranks leave a gap, and `origin_error` if they do not begin at `end()`.
  template <operand K, operand V, class Verdict = part_verdict<K, V>>
    requires allowed<Verdict>
  void append_part(const K& k, const V& v) {
    detail::taking_part(along_, "append_part", [&] { append_stripe(k, v); });
  }
  template <operand K, operand V, class Verdict = part_verdict<K, V>>
    requires refused<Verdict>
  Verdict append_part(const K& k, const V& v);
  template <operand X, class Error = dimwise::detail::alone_error<Key, X>>
  Error append_part(const X& x);
  template <class... Given>
    requires(dimwise::detail::refused_operand<Given> || ...)
  dimwise::detail::already_refused append_part(Given... given);

  /// This rank's keys with their positions, read in place; valid until the next `append`.
  [[nodiscard]] auto keys() const& { return sides_.keys.read(0, held()); }
  /// Its values, at the same positions.
  [[nodiscard]] auto values() const& { return sides_.values.read(0, held()); }
  template <class Error = ERROR_R3_elements_of_a_temporary_are_gone<shape<KeyDims...>>>
  Error keys() const&&;
  template <class Error = ERROR_R3_elements_of_a_temporary_are_gone<shape<ValueDims...>>>
  Error values() const&&;

  /// The number of positions that all ranks hold together, and the capacity of all of them.
  [[nodiscard]] extent_t length() const { return length_; }
  [[nodiscard]] extent_t limit() const { return limit_; }
  /// The position of the next key.
  [[nodiscard]] std::ptrdiff_t end() const { return start_ + static_cast<std::ptrdiff_t>(length_); }
  /// The next positions as a dimension object with their origin: `cache.next(seq{1})`.
  template <dimwise::detail::in_sequence_of<Key> D>
  [[nodiscard]] D next(const D& count) const {
    return starting_at(count, end());
  }
  /// Rejects features (R13) and positions of another sequence than the keys' (R7).
  template <class D, class Error = typename dimwise::detail::next_error<Key, D>::type>
  Error next(const D& count) const;
  /// Rejects a number (R1).
  template <class X, class Error = ERROR_R1_operation_takes_other_arguments<op::next, X>>
    requires(!dimension_type<X>)
  Error next(const X& count) const;
  /// The causal mask of queries at Q: each sees the keys up to its position.
  template <class Q>
    requires dimwise::detail::at_positions_of<Q, Key>
  [[nodiscard]] auto mask() const {
    return causal<Q, Key>{};
  }
  /// Removes all positions; the next position is `position`. Throws `origin_error` for positions beyond ±2^60.
  void restart(std::ptrdiff_t position = 0) {
    dimwise::detail::check_restart<Whole>(position);
    length_ = 0;
    start_ = position;
  }
  /// Removes the last `given` positions; throws `extent_error` if the cache holds fewer.
  void forget(dimwise::detail::given_count given) {
    const extent_t count = given.checked("forget");
    dimwise::detail::check_forgotten<Whole>(count, length_);
    length_ -= count;
  }

 private:
  template <class K, class V>
  void append_whole(const K& k, const V& v) {
    using key_floats = dimwise::detail::tensor_of<typename sides::key_side::format::computed, all_keys>;
    using value_floats = dimwise::detail::tensor_of<typename sides::value_side::format::computed, all_values>;
    const extent_t n = check<Whole>(k.extents(), v.extents(), end());
    check_room(n);
    const key_floats new_keys = k;
    const value_floats new_values = v;
    // The first of the new positions that is this rank's.
    const std::size_t ranks = along_.size();
    const std::size_t first = (along_.rank() + ranks - length_ % ranks) % ranks;
    const Key part = starting_at(Key{first < n ? (n - first + ranks - 1) / ranks : 0}, next_position());
    store(
        dimwise::detail::every_nth_of<Whole, Key, typename sides::key_side::floats>(new_keys, first, ranks, part),
        dimwise::detail::every_nth_of<Whole, Key, typename sides::value_side::floats>(new_values, first, ranks, part));
    length_ += n;
  }
  template <class K, class V>
  void append_stripe(const K& k, const V& v) {
    (void)check<Key>(k.extents(), v.extents(), next_position());
    const auto parts = dimwise::detail::parts_of_all<Key>(k.extents(), along_, "append");
    const extent_t n = dimwise::detail::whole_of_parts<Key>(parts, "append").extent;
    if (n > 0 && length_ % along_.size() != 0) {
      dimwise::detail::raise<origin_error>(error{} << "append: a prompt in stripes of "
                                                   << dimwise::detail::dimension_name<Whole>()
                                                   << " begins after a whole number of rounds of the ranks, and the "
                                                      "cache holds "
                                                   << length_ << " positions; pass all of them on every rank (R24)");
    }
    check_room(n);
    store(k, v);
    length_ += n;
  }
  // This rank's share of so many positions.
  [[nodiscard]] extent_t part_of(extent_t positions) const {
    return (positions + along_.size() - 1 - along_.rank()) / along_.size();
  }
  [[nodiscard]] std::ptrdiff_t position_of(extent_t held_here) const {
    return start_ + static_cast<std::ptrdiff_t>(along_.rank() + held_here * along_.size());
  }
  [[nodiscard]] Key held() const { return starting_at(Key{part_of(length_)}, position_of(0)); }
  [[nodiscard]] std::ptrdiff_t next_position() const { return position_of(part_of(length_)); }

  // The positions that keys and values bring: their other extents are the cache's (R15), they continue its own.
  template <class D, class K, class V>
  [[nodiscard]] extent_t check(const K& k, const V& v, std::ptrdiff_t first) const {
    using atoms = dimwise::detail::union_t<typename K::atoms, typename V::atoms>;
    const auto given = dimwise::detail::merge_extents<atoms>("append", k, v);
    using others = dimwise::detail::difference_t<atoms, dimwise::detail::list<D>>;
    (void)dimwise::detail::merge_extents<others>("append", given, sides_.keys.extents(), sides_.values.extents());
    constexpr bool rotated =
        dimwise::detail::marked_t<dimwise::rotated, dimwise::detail::marks_t<keys_shape>>::size > 0;
    check_first<D>(k, first, rotated);
    check_first<D>(v, first, false);
    return given.template extent<D>();
  }
  // Positions that were said continue the cache; rotated keys count from 0 where nothing was said.
  template <class D, class Extents>
  static void check_first(const Extents& e, std::ptrdiff_t first, bool rotated) {
    if (e.template extent<D>() == 0 || (!rotated && !e.template has_origin<D>())) { return; }
    const std::ptrdiff_t origin = e.template first_position<D>("append");
    if (origin != first) {
      dimwise::detail::raise<origin_error>(error{} << "append: the first position of "
                                                   << dimwise::detail::dimension_name<D>() << " is "
                                                   << static_cast<long long>(origin) << ", and the cache goes on at "
                                                   << static_cast<long long>(first) << " (R9, R10)");
    }
  }
  void check_room(extent_t n) const {
    if (n > limit_ - length_) {
      dimwise::detail::raise<extent_error>(
          error{} << "append: " << n << " positions of " << dimwise::detail::dimension_name<Whole>()
                  << " do not fit, the cache holds " << length_ << " and takes " << limit_ << " (R10)");
    }
  }
  void store(const typename sides::key_side::floats& k, const typename sides::value_side::floats& v) {
    sides_.keys.check_numbers(k, "key");
    sides_.values.check_numbers(v, "value");
    const std::size_t at = part_of(length_);
    sides_.write(at, typename sides::key_floats(k), typename sides::value_floats(v));
  }

  communicator along_;
  extent_t limit_;
  sides sides_;
  extent_t length_ = 0;       // of all ranks
  std::ptrdiff_t start_ = 0;  // the position of the first one
};

}  // namespace dimwise::ranks

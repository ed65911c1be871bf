// SPDX-License-Identifier: BSL-1.0
// dimwise/nn/cache.hpp -- the KV cache in one buffer: element types, dimensions and capacity are part of its type.
//
// Layer: nn. Attention reads keys and values in place: one decoding step reads them once and copies nothing.
// Tests: tests/nn/cache/cache.test.cpp, tests/compile_fail/cache/
//
//   nn::kv_cache<key, nn::capacity<2048>, nn::keys<float, batch, kv_heads, key, d_k, rotated<d_k, seq>>,
//                nn::values<float, batch, kv_heads, key, d_v>> cache(batch{2});
//   cache.append(k, v);                                     // both at once, at the positions from cache.end() on
//   tensor y = contract<key>(softmax<key>(masked(scores<d_k>(q, cache.keys()), cache.mask<seq>())), cache.values());
#pragma once

#include <dimwise/nn/cache_sides.hpp>
#include <dimwise/nn/caches/kinds.hpp>
#include <dimwise/nn/caches/rejected.hpp>

#include <span>
#include <utility>

namespace dimwise::nn {

/// A KV cache in one buffer, owned or borrowed.
///
/// Rejects rotated values (R9), keys and values with different heads, a Key with a static extent, 4-bit elements along
/// Key (R10), and positions of several documents (R19).
template <class Key, class Kind, class KeyElement, class... KeyDims, class ValueElement, class... ValueDims>
class kv_cache<Key, Kind, keys<KeyElement, KeyDims...>, values<ValueElement, ValueDims...>>
    : public detail::cache_base<
          kv_cache<Key, Kind, keys<KeyElement, KeyDims...>, values<ValueElement, ValueDims...>>, Key,
          detail::cache_sides<Key, keys<KeyElement, KeyDims...>, values<ValueElement, ValueDims...>>>,
      public detail::members_of_other_kinds<Key, detail::cache_kind<Kind>::at_run_time_window,
                                            !detail::cache_kind<Kind>::slides> {
  using sides = detail::cache_sides<Key, nn::keys<KeyElement, KeyDims...>, nn::values<ValueElement, ValueDims...>>;
  using base = detail::cache_base<kv_cache, Key, sides>;
  friend base;
  using settings = typename sides::settings;
  using kind = detail::cache_kind<Kind>;
  static constexpr bool key_given = kind::buffer == at_run_time;
  using others = detail::members_of_other_kinds<Key, kind::at_run_time_window, !kind::slides>;

 public:
  /// Constructs an empty cache with these run-time extents; the extent of Key is the capacity unless the type specifies
  /// one. The scales of quantized sides come first, that of the keys before that of the values.
  template <class... Given>
    requires(sides::template gives<key_given, Given...>)
  explicit kv_cache(const Given&... given) : sides_(filled(settings(given...))) {}
  template <class... Given, class Error = typename sides::template given_error<key_given, Given...>>
    requires((detail::cache_setting<Given> && ...) && !sides::template gives<key_given, Given...>)
  explicit kv_cache(const Given&... given) DIMWISE_DETAIL_REFUSED(Error);
  /// Constructs an empty cache over borrowed memory, which must outlive it; throws `extent_error` for another extent.
  template <class... Given>
    requires(sides::template gives<key_given, Given...>)
  kv_cache(std::span<typename base::key_element> of_keys, std::span<typename base::value_element> of_values,
           const Given&... given)
      : sides_(of_keys, of_values, filled(settings(given...))), foreign_(true) {}

  /// Copies the positions that the cache holds into new memory; a moved-from cache has capacity 0.
  kv_cache(const kv_cache& other)
      : sides_(other.sides_, other.used_ - other.held_, other.held_),
        used_(other.used_),
        held_(other.held_),
        end_(other.end_),
        window_(other.window_),
        dropped_(other.dropped_) {}
  kv_cache(kv_cache&& other) noexcept
      : sides_(static_cast<sides&&>(other.sides_)),
        used_(std::exchange(other.used_, 0)),
        held_(std::exchange(other.held_, 0)),
        end_(std::exchange(other.end_, 0)),
        window_(other.window_),
        dropped_(std::exchange(other.dropped_, false)),
        foreign_(std::exchange(other.foreign_, false)) {}
  /// Takes the other cache's elements, or a copy of them; if allocation throws, the cache does not change.
  kv_cache& operator=(kv_cache other) noexcept {
    sides_ = static_cast<sides&&>(other.sides_);
    used_ = other.used_;
    held_ = other.held_;
    end_ = other.end_;
    window_ = other.window_;
    dropped_ = other.dropped_;
    foreign_ = other.foreign_;
    return *this;
  }
  ~kv_cache() = default;

  /// The keys with their positions, read in place; valid until the next `append`.
  [[nodiscard]] auto keys() const& { return sides_.keys.read(used_ - held_, held()); }
  /// The values, at the same positions.
  [[nodiscard]] auto values() const& { return sides_.values.read(used_ - held_, held()); }

  template <class Error = ERROR_R3_elements_of_a_temporary_are_gone<shape<KeyDims...>>>
  Error keys() const&&;
  template <class Error = ERROR_R3_elements_of_a_temporary_are_gone<shape<ValueDims...>>>
  Error values() const&&;

  /// The number of positions in the cache.
  [[nodiscard]] extent_t length() const { return held_; }
  /// The capacity in positions; the window of a sliding cache.
  [[nodiscard]] extent_t limit() const { return sides_.keys.extents().template extent<Key>() / (kind::slides ? 2 : 1); }
  /// The position of the next key.
  [[nodiscard]] std::ptrdiff_t end() const { return end_; }
  /// Keeps what a window of `given` positions sees, a query's own included; 0: all positions. Throws `extent_error` if
  /// the cache holds positions, or if the window exceeds the buffer.
  void keep_window(detail::given_count given)
    requires(kind::at_run_time_window)
  {
    const extent_t count = given.checked("keep_window");
    if (held_ > 0 || count > limit()) {
      detail::raise<extent_error>(error{} << "keep_window: " << count << " positions of "
                                          << detail::dimension_name<Key>() << " were asked of a cache that holds "
                                          << held_ << " and takes " << limit()
                                          << "; it is set while it is empty (R10)");
    }
    window_ = count;
  }
  /// The window that is kept; 0: all positions.
  [[nodiscard]] extent_t kept_window() const
    requires(kind::at_run_time_window)
  {
    return window_;
  }
  /// How many positions can be appended at once.
  [[nodiscard]] extent_t at_once() const
    requires(kind::at_run_time_window)
  {
    return window_ == 0 ? limit() - used_ : limit() - (window_ - 1);
  }
  // Rejects caches of another kind, whose window is a part of their type or that have none (R10).
  using others::at_once;
  using others::keep_window;
  using others::kept_window;
  /// Marks the first `given` positions of borrowed memory as held. Throws `extent_error` if `given` exceeds the
  /// capacity, or if the cache owns its memory, which only `append` fills; then nothing changes.
  void adopt(detail::given_count given)
    requires(!kind::slides)
  {
    const extent_t count = given.checked("adopt");
    if (count > limit()) {
      detail::raise<extent_error>(error{} << "adopt: " << count << " positions of " << detail::dimension_name<Key>()
                                          << " do not fit, the cache takes " << limit() << " (R10)");
    }
    if (count > 0 && !foreign_) {
      detail::raise<extent_error>(error{} << "adopt: " << count << " positions of " << detail::dimension_name<Key>()
                                          << " were never appended, the cache has memory of its own; only a cache in "
                                             "memory that is given to it adopts positions (R10)");
    }
    end_ = detail::position_after(0, count, "adopt", &detail::dimension_name<Key>);
    used_ = held_ = count;
  }
  // Rejects a sliding cache, whose buffer holds other positions than the first ones (R10).
  using others::adopt;
  /// Removes all positions; the next position is `position`. Throws `origin_error` for positions beyond ±2^60; then
  /// nothing changes.
  void restart(std::ptrdiff_t position = 0) {
    detail::check_restart<Key>(position);
    used_ = held_ = 0;
    end_ = position;
    dropped_ = false;
  }
  /// Rejects an extent: a position is a number (R1).
  template <dimension_type D, class Error = ERROR_R1_operation_takes_other_arguments<op::restart, D>>
  Error restart(const D& position);
  /// Removes the last `given` positions, for example rejected drafts; throws `extent_error` if the cache holds fewer,
  /// or if a window would lack positions that are gone.
  void forget(detail::given_count given)
    requires(!kind::slides)
  {
    const extent_t count = given.checked("forget");
    detail::check_forgotten<Key>(count, held_);
    if constexpr (kind::at_run_time_window) {
      if (dropped_ && held_ - count < window_ - 1) {
        detail::raise<extent_error>(error{} << "forget: without the last " << count << " positions of "
                                            << detail::dimension_name<Key>() << " a window of " << window_
                                            << " would lack positions that are gone (R10)");
      }
    }
    used_ -= count;
    held_ = used_;
    end_ -= static_cast<std::ptrdiff_t>(count);
  }
  /// Rejects a sliding cache: its window would show positions that it has dropped (R10).
  template <class... Count, class Error = ERROR_R10_sliding_cache_has_no_positions_to_go_back_to<over<Key>>>
    requires(kind::slides)
  Error forget(const Count&... count);

 private:
  static settings filled(const settings& given) {
    if constexpr (key_given) {
      return given;
    } else {
      return given.with(Key{kind::buffer});
    }
  }
  [[nodiscard]] const sides& any_sides() const { return sides_; }
  template <class Q>
  [[nodiscard]] auto own_mask() const {
    if constexpr (kind::at_run_time_window) {
      return window<Q, Key>(window_ == 0 ? -1 : static_cast<std::ptrdiff_t>(window_) - 1, 0);
    } else if constexpr (kind::slides) {
      return window<Q, Key>(static_cast<std::ptrdiff_t>(kind::window) - 1, 0);
    } else {
      return causal<Q, Key>{};
    }
  }
  [[nodiscard]] Key held() const { return starting_at(Key{held_}, end_ - static_cast<std::ptrdiff_t>(held_)); }

  void check_room(extent_t n) const {
    if constexpr (kind::at_run_time_window) {
      if (window_ > 0) {
        if (n > at_once()) { base::no_room(n, held_, at_once(), " at once"); }
        return;
      }
    }
    if (kind::slides ? n > limit() : n > limit() - used_) {
      base::no_room(n, held_, limit(), kind::slides ? " at once" : "");
    }
  }
  void take_in(extent_t n, const typename sides::key_floats& k, const typename sides::value_floats& v) {
    if (slides()) { slide(n); }
    sides_.write(used_, k, v);
    used_ += n;
    end_ += static_cast<std::ptrdiff_t>(n);
    if (slides()) {
      const extent_t seen = window_of_kind() - 1 + n;
      dropped_ = dropped_ || held_ + n > seen;
      held_ = held_ + n < seen ? held_ + n : seen;
    } else {
      held_ = used_;
    }
  }
  // Makes room for n positions: moves those that later queries see to the front. The copy comes first, so that a failed
  // allocation changes nothing.
  void slide(extent_t n) {
    if (used_ + n <= sides_.keys.extents().template extent<Key>()) { return; }
    const extent_t most = window_of_kind() - 1;
    const extent_t kept = held_ < most ? held_ : most;
    dropped_ = dropped_ || kept < held_;
    const auto k = sides_.keys.take(used_ - kept, kept);
    const auto v = sides_.values.take(used_ - kept, kept);
    sides_.keys.put(0, k);
    sides_.values.put(0, v);
    used_ = held_ = kept;
  }

  [[nodiscard]] bool slides() const { return kind::slides || window_ > 0; }
  [[nodiscard]] extent_t window_of_kind() const {
    if constexpr (kind::slides) {
      return kind::window;
    } else {
      return window_;
    }
  }

  sides sides_;
  extent_t used_ = 0;  // of the buffer
  extent_t held_ = 0;  // the last ones of those
  std::ptrdiff_t end_ = 0;
  extent_t window_ = 0;   // set at run time; 0: none
  bool dropped_ = false;  // whether positions since the start are gone
  bool foreign_ = false;  // over borrowed memory
};

/// Attention over a KV cache; `scores_of(keys)` returns the masked scores. Rejects anything but a function (R1).
///
///   tensor y = nn::attend(cache, [&](const auto& k) { return masked(scores<d_k>(q, k), causal<seq, key>{}); });
///
/// Throws `extent_error` if a window in the scores shows more positions than a sliding cache keeps.
// `attend<D>` names the queries' positions and is the other function: none is meant where the keys are named.
template <class NoneNamed = void, class Key, class Kind, class Keys, class Values, detail::scores_function ScoresOf>
  requires std::is_void_v<NoneNamed>
[[nodiscard]] auto attend(const kv_cache<Key, Kind, Keys, Values>& cache, const ScoresOf& scores_of) {
  if constexpr (std::is_void_v<decltype(scores_of(cache.keys()))>) {
    return detail::no_scores<ScoresOf>(cache);
  } else {
    const auto s = scores_of(cache.keys());
    if constexpr (detail::cache_kind<Kind>::slides) { detail::check_windows<Key>(s, detail::cache_kind<Kind>::window); }
    if constexpr (detail::cache_kind<Kind>::at_run_time_window) {
      if (cache.kept_window() > 0) { detail::check_windows<Key>(s, cache.kept_window()); }
    }
    const auto y = detail::functions::contract<Key>(detail::functions::softmax<Key>(s), cache.values());
    if constexpr (detail::is_refusal<decltype(y)>) {
      return detail::rejected_scores(y);
    } else {
      return evaluate(y);
    }
  }
}

/// The same under the mask of the cache, `cache.mask<Q>()`: `scores_of(keys)` gives scores of queries at Q. Rejects
/// queries without positions (R13) or at positions of another sequence (R7).
///
///   tensor y = nn::attend<seq>(cache, [&](const auto& k) { return scores<d_k>(q, k); });
template <class Q, class Key, class Kind, class Keys, class Values, detail::scores_function ScoresOf>
  requires(dimwise::detail::at_positions_of<Q, Key> || detail::is_rejected_cache<kv_cache<Key, Kind, Keys, Values>>)
[[nodiscard]] auto attend(const kv_cache<Key, Kind, Keys, Values>& cache, const ScoresOf& scores_of) {
  return attend(cache, [&](const auto& k) {
    if constexpr (std::is_void_v<decltype(scores_of(k))>) {
      return detail::no_scores<ScoresOf>(k);
    } else {
      return masked(scores_of(k), cache.template mask<Q>());
    }
  });
}
template <class Q, class Key, class Kind, class Keys, class Values, detail::scores_function ScoresOf,
          class Error = dimwise::detail::positions_error<op::causal, Q, Key>>
  requires(!dimwise::detail::at_positions_of<Q, Key> && !detail::is_rejected_cache<kv_cache<Key, Kind, Keys, Values>>)
Error attend(const kv_cache<Key, Kind, Keys, Values>& cache, const ScoresOf& scores_of) DIMWISE_DETAIL_REFUSES_LAMBDAS;
template <class... D, class Key, class Kind, class Keys, class Values, class... Given,
          class Error = ERROR_R1_operation_takes_other_arguments<op::attend, over<D...>>>
  requires((sizeof...(Given) != 1 || !(detail::scores_function<Given> && ...)) &&
           !(dimwise::detail::refused_operand<Given> || ...))
Error attend(const kv_cache<Key, Kind, Keys, Values>& cache, const Given&... given);
DIMWISE_DETAIL_MISUSED(attend)

}  // namespace dimwise::nn

// SPDX-License-Identifier: BSL-1.0
// dimwise/nn/caches/rejected.hpp -- KV caches whose type is rejected: one error, and none that follows from it.
//
// Layer: nn.
// Tests: tests/compile_fail/cache/
#pragma once

#include <dimwise/nn/cache_sides.hpp>
#include <dimwise/nn/layers/kinds.hpp>

namespace dimwise {

namespace argument {
struct keys;
struct values;
}  // namespace argument
namespace op {
struct kv_cache;
}  // namespace op

namespace nn {

namespace detail {
template <class Side>
inline constexpr bool is_keys = false;
template <class T, class... DimsAndMarks>
inline constexpr bool is_keys<keys<T, DimsAndMarks...>> = true;
template <class Side>
inline constexpr bool is_values = false;
template <class T, class... DimsAndMarks>
inline constexpr bool is_values<values<T, DimsAndMarks...>> = true;
}  // namespace detail

/// The KV cache along Key; `Kind` is `capacity<…>`, `sliding<…>`, `windowed` or `paged<…>`. Rejects sides that are not
/// `keys<…>` and `values<…>`, in this order (R13).
template <class Key, class Kind, class Keys, class Values>
class kv_cache : public detail::refused_module<
                     op::kv_cache, detail::places<argument::keys, dimwise::detail::list<Keys>, detail::is_keys<Keys>>,
                     detail::places<argument::values, dimwise::detail::list<Values>, detail::is_values<Values>>> {
 public:
  using kv_cache::refused_module::refused_module;
  static_assert(sizeof(detail::report<typename kv_cache::error>) > 0);
  template <class... Given>
  void append(const Given&...);
  [[nodiscard]] dimwise::detail::already_refused keys() const;
};

/// Rejects a Key that the sides do not grow along, values that are rotated, keys and values with different heads, a Key
/// with a static extent, 4-bit elements along Key (R1, R9, R10), and positions of several documents (R19).
template <class Key, class Kind, class KeyElement, class... KeyDims, class ValueElement, class... ValueDims>
  requires refused<
      typename detail::cache_sides<Key, keys<KeyElement, KeyDims...>, values<ValueElement, ValueDims...>>::verdict>
class kv_cache<Key, Kind, keys<KeyElement, KeyDims...>, values<ValueElement, ValueDims...>>
    : public dimwise::detail::refused_members<allowed<typename detail::cache_sides<
          Key, nn::keys<KeyElement, KeyDims...>, nn::values<ValueElement, ValueDims...>>::verdict>> {
  using verdict = typename detail::cache_sides<Key, nn::keys<KeyElement, KeyDims...>,
                                               nn::values<ValueElement, ValueDims...>>::verdict;
  static_assert(detail::holds<allowed<verdict>, verdict>,
                "R1, R9, R10, R19: a cache holds keys and values that grow together, values not rotated");
  using already_refused = dimwise::detail::already_refused;

 public:
  template <class... Given>
  kv_cache(const Given&...);  // implicit: the type is the only mistake
  template <class... Given>
  void append(const Given&...);
  template <class... Given>
  already_refused next(const Given&...) const;
  template <class... Q>
  already_refused mask() const;
  [[nodiscard]] already_refused keys() const;
  [[nodiscard]] already_refused keys_of(std::size_t) const;
  [[nodiscard]] already_refused values_of(std::size_t) const;
  [[nodiscard]] extent_t page_count() const;
  [[nodiscard]] extent_t kept_window() const;
  [[nodiscard]] extent_t length() const;
};

namespace detail {
template <class Cache>
inline constexpr bool is_rejected_cache = std::is_base_of_v<dimwise::detail::refused_members<false>, Cache>;

// In place of the attention of scores that softmax or the product with the values rejects.
template <class Refusal>
auto rejected_scores(const Refusal&) {  // deduced, as of `no_scores`
  using error = typename Refusal::refused_error;
  static_assert(holds<std::is_same_v<error, already_refused>, error>,
                "R1, R5, R6, R7: attend softmaxes what its function returns and multiplies it by the values");
  return already_refused();
}
}  // namespace detail

}  // namespace nn
}  // namespace dimwise

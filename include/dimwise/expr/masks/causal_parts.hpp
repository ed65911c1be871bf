// SPDX-License-Identifier: BSL-1.0
// dimwise/expr/masks/causal_parts.hpp -- a causal mask over keys that follow others: a learned prefix, a memory, sinks.
//
// Layer: expr.
// Tests: tests/eval/attention/whole_rows.test.cpp, tests/compile_fail/mask/
//
//   causal<seq, summed<prefix, key>>{}           every query sees the prefix, and of the keys those up to its position
#pragma once

#include <dimwise/expr/masks/position_masks.hpp>

namespace dimwise {

namespace detail {

// The parts in front of the last one, and that one.
template <class Q, class... P>
struct keys_behind {
  using keys = element_t<sizeof...(P) - 1, list<P...>>;
  static constexpr bool packed = is_packed<Q> || (is_packed<P> || ...);
  static constexpr bool comparable = detail::comparable<Q, keys> && both_ordered<Q, keys> && !packed;
  using error =
      either_t<packed,
               ERROR_R19_packed_positions_need_their_documents<op::causal, over<about_t<Q>, about_t<summed<P...>>>>,
               positions_error<op::causal, Q, keys>>;
};

}  // namespace detail

/// Over keys after other parts: the parts in front of the last one are before all positions, so that every query sees
/// them; of the last part, whose positions are those of the queries' sequence, it sees those up to its own position.
///
///   visible(i, j) = j is in a part before the last, or position of key j <= position of query i
///
/// Rejects packed positions (R19); origins as in `causal` over the last part.
template <class Q, class... P>
class causal<Q, summed<P...>> : public detail::mask_tag,
                                public detail::related_positions<Q, typename detail::keys_behind<Q, P...>::keys> {
  using parts = detail::keys_behind<Q, P...>;
  using base = detail::related_positions<Q, typename parts::keys>;

 public:
  using facts = detail::mask_facts<detail::list<Q, summed<P...>>, detail::list<summed<P...>>, false>;
  static constexpr const char* name = "causal";

  causal()
    requires(parts::comparable)
  = default;
  template <class Error = typename parts::error>
    requires(!parts::comparable)
  causal(Error* = nullptr) DIMWISE_DETAIL_REFUSED(Error);
  /// The same with said positions: `causal<seq, summed<past, key>>(starting_at(seq{2}, 5), key{2})`.
  causal(const Q& q, const typename parts::keys& k)
    requires(detail::both_ordered<Q, typename parts::keys> && !parts::packed)
      : base(q, k) {}

  [[nodiscard]] static bool visible(std::ptrdiff_t q, std::ptrdiff_t k) { return k <= q; }
  /// The number of keys in front of the last part.
  template <class Extents>
  [[nodiscard]] static std::ptrdiff_t in_front(const Extents& e) {
    return static_cast<std::ptrdiff_t>(e.template extent<summed<P...>>() - e.template extent<typename parts::keys>());
  }
};

}  // namespace dimwise

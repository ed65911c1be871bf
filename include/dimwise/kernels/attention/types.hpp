// dimwise/kernels/attention/types.hpp -- the concept of functions of scores, and their arguments.
//
// Layer: kernels. Includes: attention/layout.hpp, simd.hpp.
// Tests: tests/kernels/attention/forward.test.cpp
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/kernels/attention/layout.hpp>
#include <dimwise/kernels/dispatch/configuration.hpp>
#include <dimwise/kernels/simd.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION {

/// The arguments of a kernel whose elements are those of `Arch`.
template <class Arch>
using layout_for = attention_layout_of<element_of<Arch>>;
template <class Arch>
using head_for = attention_head_of<element_of<Arch>>;

/// The position of a register of scores: one query per lane, one key, both counted from the start of the head.
template <class Arch>
struct score_place {
  ints<Arch> query;
  ints<Arch> key;
  std::size_t head;  ///< index into the list of heads
};

/// A function of scores that is inlined into the kernel. Return -inf to hide a key. A member `each(scores, count)` is
/// called first, with contiguous scores of existing pairs, some of them repeated.
template <class F, class Arch>
concept ScoreFunction = requires(const F& f, const floats<Arch>& scores, const score_place<Arch>& place) {
  { f(scores, place) } -> std::convertible_to<floats<Arch>>;
};

/// The identity. The kernel knows this type and skips the pass that would call it.
struct identity_score {
  template <class Scores, class Place>
  [[nodiscard]] constexpr const Scores& operator()(const Scores& scores, const Place&) const noexcept {
    return scores;
  }
};

/// Whether `score` changes anything: false for the identity, and for functions that report no change at run time.
template <class Score>
[[nodiscard, gnu::always_inline]] constexpr bool changes_scores(const Score& score) noexcept {
  if constexpr (requires { score.any(); }) return score.any();
  else return !std::is_same_v<Score, identity_score>;
}

/// Whether a pass over the scores must call `score` itself: false if its `each` does everything.
template <class Score>
[[nodiscard, gnu::always_inline]] constexpr bool changes_registers(const Score& score) noexcept {
  if constexpr (requires { score.only_each(); }) return changes_scores(score) && !score.only_each();
  else return changes_scores(score);
}

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION

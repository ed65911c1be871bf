// SPDX-License-Identifier: BSL-1.0
// dimwise/dim/ability.hpp -- the abilities of dimensions, whose combinations are the kinds.
//
// Layer: dim. Includes: nothing.
// Tests: tests/shape/dim.test.cpp
//
//   struct experts : dimwise::dimension<dimwise::ability::parallel | dimwise::ability::choice, 8> {};
#pragma once

namespace dimwise {

/// The uses that a dimension permits; a kind is a set of these, combined with `|`.
enum class ability : unsigned {
  none = 0,
  parallel = 1,    ///< operands may share it without naming it: batch, heads, layers, experts (R2)
  ordered = 2,     ///< its elements have positions: cumsum, rotary, window, pooling (R13)
  attendable = 4,  ///< permits the softmax of attention (R13)
  feature = 8,     ///< layer_norm, rms_norm and projections (R13)
  choice = 16,     ///< alternatives: softmax over a vocabulary, experts, candidates (R13)
  heads = 32,      ///< parallel, and the heads of attention: mixed only after scoring (R11)
  packed = 64,     ///< holds several documents: operations across them need segments (R19)
};

/// The union and the intersection of two sets of abilities.
[[nodiscard]] constexpr ability operator|(ability a, ability b) {
  return static_cast<ability>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
[[nodiscard]] constexpr ability operator&(ability a, ability b) {
  return static_cast<ability>(static_cast<unsigned>(a) & static_cast<unsigned>(b));
}

/// True when `set` has at least one ability of `wanted`.
[[nodiscard]] constexpr bool has_any(ability set, ability wanted) { return (set & wanted) != ability::none; }

namespace detail {
inline constexpr ability position_ability = ability::ordered | ability::attendable;
}

}  // namespace dimwise

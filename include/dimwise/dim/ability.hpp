// SPDX-License-Identifier: BSL-1.0
// dimwise/dim/ability.hpp -- what a dimension may be used for: kinds are sets of abilities.
//
// Layer: dim. Includes: nothing.
// Tests: tests/shape/dim.test.cpp
//
//   struct experts : dimwise::dimension<dimwise::ability::parallel | dimwise::ability::choice, 8> {};
#pragma once

namespace dimwise {

/// What a dimension may be used for; a kind is a set of these, combined with `|`.
enum class ability : unsigned {
  none = 0,
  parallel = 1,    ///< two operands may share it silently: batch, heads, layers, experts (R2)
  ordered = 2,     ///< its elements have positions: scan, rotary, window, pooling (R13)
  attendable = 4,  ///< softmax for attention may go over it (R13)
  feature = 8,     ///< layer_norm, rms_norm and projections (R13)
  choice = 16,     ///< alternatives: softmax over a vocabulary, experts, candidates (R13)
  heads = 32,      ///< parallel, and the heads of attention: mixed only after scoring (R11)
  packed = 64,     ///< the positions of several documents in one: mixing them needs their segments (R19)
};

/// The abilities of both sets, and those that they share.
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

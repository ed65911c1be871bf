// SPDX-License-Identifier: BSL-1.0
// dimwise/shape/marks_table/products.hpp -- what products and elementwise operations do with every mark.
//
// Layer: shape.
// Tests: tests/shape/marks.test.cpp
#pragma once

#include <dimwise/shape/marks_table/row.hpp>

namespace dimwise::detail {

inline constexpr mark_row product_row = {
    .raw = by_rule,
    .score = by_rule,
    .masked_for = refuse,
    .biased_for = drop,
    .normalised = by_rule,
    .weighted = by_rule,
    .log_normalised = drop,
    .rotated = by_rule,
    .indexed = drop,
    .partial = by_rule,
    .sets = "raw",
    .note =
        "raw and score stay when heads are mixed and are refused over positions; normalised and weighted end when "
        "contracted over their dimension, normalised also when heads are mixed; rotated ends with its feature, turned "
        "by the same positions in both operands; partial is set over a shard, and one factor may have it"};
template <>
inline constexpr mark_row marks_row<op::contract> = product_row;
template <>
inline constexpr mark_row marks_row<op::outer> = {.raw = keep,
                                                  .score = keep,
                                                  .masked_for = refuse,
                                                  .biased_for = drop,
                                                  .normalised = weaken,
                                                  .weighted = keep,
                                                  .log_normalised = drop,
                                                  .indexed = drop,
                                                  .partial = by_rule};
template <>
inline constexpr mark_row marks_row<op::scores> = {.raw = by_rule,
                                                   .score = by_rule,
                                                   .masked_for = refuse,
                                                   .biased_for = drop,
                                                   .normalised = by_rule,
                                                   .weighted = by_rule,
                                                   .log_normalised = drop,
                                                   .rotated = by_rule,
                                                   .indexed = drop,
                                                   .sets = "score",
                                                   .needs = "a product that is raw",
                                                   .note = "contract and scaled in one word"};
template <>
inline constexpr mark_row marks_row<op::scaled> = {.raw = drop,
                                                   .score = refuse,
                                                   .masked_for = keep,
                                                   .normalised = refuse,
                                                   .weighted = refuse,
                                                   .log_normalised = drop,
                                                   .sets = "score",
                                                   .needs = "raw"};
template <>
inline constexpr mark_row marks_row<op::unscaled> = marks_row<op::scaled>;
template <>
inline constexpr mark_row marks_row<op::elementwise> = {
    .normalised = weaken,
    .log_normalised = drop,
    .partial = by_rule,
    .note =
        "the marks of all operands; what is masked stays masked; only the same kind is added to what is rotated; what "
        "is "
        "added to scores sets biased_for and is not masked, and a factor adds its dimensions to it; partial is added "
        "to the same partial only, and one factor may have it"};
template <>
inline constexpr mark_row marks_row<op::divide> = marks_row<op::elementwise>;
template <>
inline constexpr mark_row marks_row<op::map> = {
    .masked_for = by_rule,
    .biased_for = drop,
    .normalised = weaken,
    .log_normalised = by_rule,
    .note =
        "masked values pass exp and sigmoid only, which end the mark: both are 0 there; exp of log_normalised is "
        "normalised, and log of normalised is log_normalised"};
template <>
inline constexpr mark_row marks_row<op::compare> = {
    .raw = drop,
    .score = drop,
    .masked_for = by_rule,
    .biased_for = drop,
    .normalised = drop,
    .weighted = drop,
    .log_normalised = drop,
    .rotated = drop,
    .note = "true and false are neither scores nor weights; masked values are not compared"};
inline constexpr mark_row chosen_row = {.masked_for = by_rule,
                                        .biased_for = drop,
                                        .normalised = weaken,
                                        .log_normalised = drop,
                                        .note =
                                            "the marks of all operands; masked values are refused, and rotated "
                                            "ones beside others, but for pow"};
template <>
inline constexpr mark_row marks_row<op::where> = chosen_row;
template <>
inline constexpr mark_row marks_row<op::maximum> = chosen_row;
template <>
inline constexpr mark_row marks_row<op::minimum> = chosen_row;
template <>
inline constexpr mark_row marks_row<op::clamp> = chosen_row;
template <>
inline constexpr mark_row marks_row<op::pow> = chosen_row;
template <>
inline constexpr mark_row marks_row<op::quantised> = {
    .masked_for = refuse, .normalised = weaken, .log_normalised = drop};
template <>
inline constexpr mark_row marks_row<op::rounded> = marks_row<op::quantised>;

}  // namespace dimwise::detail

// SPDX-License-Identifier: BSL-1.0
// dimwise/shape/marks_table/rearranging.hpp -- what views, indexing, joins and assignment do with every mark.
//
// Layer: shape.
// Tests: tests/shape/marks.test.cpp
#pragma once

#include <dimwise/shape/marks_table/row.hpp>

namespace dimwise::detail {

template <>
inline constexpr mark_row marks_row<op::part> = {.masked_for = by_rule,
                                                 .normalised = by_rule,
                                                 .weighted = by_rule,
                                                 .log_normalised = by_rule,
                                                 .rotated = by_rule,
                                                 .partial = keep,
                                                 .note =
                                                     "marks over the sum become the part's, normalised becomes "
                                                     "weighted, log_normalised ends; rotations of other parts end"};
template <>
inline constexpr mark_row marks_row<op::slice> = {
    .normalised = by_rule,
    .log_normalised = by_rule,
    .rotated = by_rule,
    .partial = keep,
    .note = "normalised over the sliced dimension becomes weighted, log_normalised ends"};
template <>
inline constexpr mark_row marks_row<op::at> = {.biased_for = by_rule,
                                               .normalised = by_rule,
                                               .weighted = by_rule,
                                               .log_normalised = by_rule,
                                               .rotated = by_rule,
                                               .partial = keep,
                                               .sets = "indexed",
                                               .note = "what speaks of the removed dimension ends, masked_for aside"};
template <>
inline constexpr mark_row marks_row<op::unstack> = marks_row<op::at>;
template <>
inline constexpr mark_row marks_row<op::replace_at> = marks_row<op::slice>;
template <>
inline constexpr mark_row marks_row<op::assign_at> = marks_row<op::replace_at>;
template <>
inline constexpr mark_row marks_row<op::concat> = {
    .masked_for = by_rule,
    .biased_for = by_rule,
    .normalised = by_rule,
    .log_normalised = by_rule,
    .partial = keep,
    .needs = "the same marks on every operand, masked_for and biased_for aside",
    .note =
        "masked_for of a part becomes that of the whole, and masks serve the same; normalised over the grown dimension "
        "becomes weighted, log_normalised ends; biased_for names the grown dimension as well"};
template <>
inline constexpr mark_row marks_row<op::stack> = {
    .masked_for = by_rule,
    .biased_for = by_rule,
    .indexed = by_rule,
    .partial = keep,
    .needs = "the same marks on every operand, masked_for and biased_for aside",
    .note =
        "masks serve the same; indexed ends for the dimension that is added; biased_for names it as well where it may "
        "be chosen from"};
template <>
inline constexpr mark_row marks_row<op::gather> = {
    .masked_for = refuse,
    .normalised = weaken,
    .log_normalised = by_rule,
    .partial = keep,
    .note =
        "of the ids' own marks indexed stays; log_normalised ends along its dimension, stays along one that its ids do "
        "not share, and is refused along others"};
template <>
inline constexpr mark_row marks_row<op::roll> = {
    .partial = keep,
    .note =
        "elements change places and keep what they are: rotated features keep the angles of the places that they had"};
template <>
inline constexpr mark_row marks_row<op::flip> = marks_row<op::roll>;
template <>
inline constexpr mark_row marks_row<op::sort> = {
    .masked_for = refuse,
    .normalised = weaken,
    .log_normalised = drop,
    .rotated = drop,
    .note = "elements change places, other ones for each row: weights no longer belong to their values"};
template <>
inline constexpr mark_row marks_row<op::argsort> = {.raw = drop,
                                                    .score = drop,
                                                    .masked_for = refuse,
                                                    .biased_for = drop,
                                                    .normalised = drop,
                                                    .weighted = drop,
                                                    .log_normalised = drop,
                                                    .rotated = drop};
template <>
inline constexpr mark_row marks_row<op::one_hot> = {
    .indexed = by_rule, .note = "the ids' own; indexed ends for the dimension that is added"};
template <>
inline constexpr mark_row marks_row<op::scatter_add> = {
    .raw = by_rule,
    .score = by_rule,
    .masked_for = refuse,
    .biased_for = drop,
    .normalised = by_rule,
    .weighted = by_rule,
    .log_normalised = drop,
    .rotated = by_rule,
    .indexed = by_rule,
    .partial = keep,
    .note = "as the sum over the named dimensions of the ids; indexed ends for the dimension that is made"};
template <>
inline constexpr mark_row marks_row<op::broadcast> = {
    .indexed = by_rule, .partial = keep, .note = "indexed ends for the dimension that is added"};
template <>
inline constexpr mark_row marks_row<op::broadcast_like> = marks_row<op::broadcast>;
template <>
inline constexpr mark_row marks_row<op::diagonal> = {
    .biased_for = by_rule,
    .normalised = by_rule,
    .weighted = by_rule,
    .log_normalised = by_rule,
    .rotated = by_rule,
    .partial = keep,
    .note = "what speaks of the two dimensions ends, masked_for aside"};
template <>
inline constexpr mark_row marks_row<op::rotary> = {.raw = refuse,
                                                   .score = refuse,
                                                   .masked_for = refuse,
                                                   .normalised = refuse,
                                                   .weighted = refuse,
                                                   .log_normalised = drop,
                                                   .rotated = by_rule,
                                                   .sets = "rotated",
                                                   .note = "the same feature is not rotated twice"};
template <>
inline constexpr mark_row marks_row<op::unroll> = {
    .masked_for = refuse, .biased_for = drop, .normalised = weaken, .log_normalised = drop};
template <>
inline constexpr mark_row marks_row<op::pool> = {
    .masked_for = refuse, .biased_for = drop, .normalised = weaken, .log_normalised = drop};
template <>
inline constexpr mark_row marks_row<op::plain> = {drop,
                                                  drop,
                                                  drop,
                                                  drop,
                                                  drop,
                                                  drop,
                                                  drop,
                                                  drop,
                                                  drop,
                                                  keep,
                                                  "",
                                                  "",
                                                  "the visible way to end every mark but partial"};
template <>
inline constexpr mark_row marks_row<op::assign> = {
    .indexed = drop, .partial = keep, .note = "a declared type must name the same marks"};

}  // namespace dimwise::detail

// SPDX-License-Identifier: BSL-1.0
// dimwise/shape/marks_table/rows.hpp -- what masks, softmax, reductions, norms and losses do with every mark.
//
// Layer: shape.
// Tests: tests/shape/marks.test.cpp
#pragma once

#include <dimwise/shape/marks_table/row.hpp>

namespace dimwise::detail {

template <>
inline constexpr mark_row marks_row<op::masked> = {.masked_for = by_rule,
                                                   .normalised = refuse,
                                                   .weighted = refuse,
                                                   .log_normalised = drop,
                                                   .sets = "masked_for",
                                                   .note = "masked_for becomes the dimensions that both masks serve"};
template <>
inline constexpr mark_row marks_row<op::biased> = {.raw = refuse,
                                                   .normalised = refuse,
                                                   .weighted = refuse,
                                                   .log_normalised = drop,
                                                   .sets = "biased_for",
                                                   .note =
                                                       "biased_for names the dimensions of the bias that a softmax may "
                                                       "have; of a bias made from positions its key side; the bias "
                                                       "itself is not masked"};
template <>
inline constexpr mark_row marks_row<op::softmax> = {
    .raw = refuse,
    .score = drop,
    .masked_for = by_rule,
    .biased_for = by_rule,
    .normalised = refuse,
    .weighted = refuse,
    .log_normalised = drop,
    .sets = "normalised",
    .note = "masked_for and biased_for must name its dimension, and end"};
template <>
inline constexpr mark_row marks_row<op::log_softmax> = {
    .raw = refuse,
    .score = drop,
    .masked_for = by_rule,
    .biased_for = by_rule,
    .normalised = refuse,
    .weighted = refuse,
    .log_normalised = drop,
    .sets = "log_normalised",
    .note = "masked_for and biased_for must name its dimension, and end"};
template <>
inline constexpr mark_row marks_row<op::renormalise> = {.raw = refuse,
                                                        .score = refuse,
                                                        .masked_for = refuse,
                                                        .biased_for = drop,
                                                        .normalised = drop,
                                                        .weighted = drop,
                                                        .log_normalised = drop,
                                                        .sets = "normalised"};
template <>
inline constexpr mark_row marks_row<op::argmax> = {.raw = drop,
                                                   .score = drop,
                                                   .masked_for = by_rule,
                                                   .biased_for = drop,
                                                   .normalised = drop,
                                                   .weighted = drop,
                                                   .log_normalised = drop,
                                                   .note = "masked_for must name its dimension"};
template <>
inline constexpr mark_row marks_row<op::top_k> = {.masked_for = by_rule,
                                                  .normalised = weaken,
                                                  .log_normalised = drop,
                                                  .note = "masked_for must name its dimension, and ends"};
inline constexpr mark_row reduction_row = {
    .raw = by_rule,
    .score = by_rule,
    .masked_for = by_rule,
    .biased_for = drop,
    .normalised = by_rule,
    .weighted = by_rule,
    .log_normalised = drop,
    .note =
        "raw and score end with a position; masked_for must name its dimension, and ends; weighted is reduced "
        "over its dimension, or over parallel ones, which keep it; the mean over heads keeps normalised"};
inline constexpr mark_row sum_row = [] {
  mark_row row = reduction_row;
  row.partial = keep;
  row.sets = "partial over a shard";
  return row;
}();
template <>
inline constexpr mark_row marks_row<op::sum> = sum_row;
template <>
inline constexpr mark_row marks_row<op::mean> = sum_row;
template <>
inline constexpr mark_row marks_row<op::max> = reduction_row;
template <>
inline constexpr mark_row marks_row<op::min> = reduction_row;
template <>
inline constexpr mark_row marks_row<op::norm> = reduction_row;
template <>
inline constexpr mark_row marks_row<op::prod> = reduction_row;
template <>
inline constexpr mark_row marks_row<op::logsumexp> = {.raw = refuse,
                                                      .score = drop,
                                                      .masked_for = by_rule,
                                                      .biased_for = drop,
                                                      .normalised = refuse,
                                                      .weighted = refuse,
                                                      .log_normalised = drop,
                                                      .note = "masked_for must name its dimension, and ends"};
template <>
inline constexpr mark_row marks_row<op::cross_entropy> = {
    .raw = refuse,
    .score = drop,
    .masked_for = by_rule,
    .biased_for = by_rule,
    .normalised = refuse,
    .weighted = refuse,
    .log_normalised = refuse,
    .note = "of the logits; masked_for and biased_for must name their alternatives, and end; targets are weights"};
template <>
inline constexpr mark_row marks_row<op::kl_divergence> = marks_row<op::cross_entropy>;
template <>
inline constexpr mark_row marks_row<op::mean_squared_error> = {
    .masked_for = refuse, .rotated = by_rule, .note = "what is rotated is compared with what is rotated alike"};
template <>
inline constexpr mark_row marks_row<op::binary_cross_entropy> = {.raw = refuse,
                                                                 .masked_for = refuse,
                                                                 .normalised = refuse,
                                                                 .weighted = refuse,
                                                                 .log_normalised = refuse,
                                                                 .rotated = by_rule,
                                                                 .note = "of the logits; targets are numbers"};
template <>
inline constexpr mark_row marks_row<op::standardize> = {
    .masked_for = refuse, .biased_for = drop, .normalised = weaken, .log_normalised = drop};
template <>
inline constexpr mark_row marks_row<op::layer_norm> = {
    .masked_for = refuse, .biased_for = drop, .normalised = weaken, .log_normalised = drop};
template <>
inline constexpr mark_row marks_row<op::rms_norm> = {
    .masked_for = refuse, .biased_for = drop, .normalised = weaken, .log_normalised = drop};
template <>
inline constexpr mark_row marks_row<op::cumsum> = {
    .masked_for = refuse, .biased_for = drop, .normalised = weaken, .log_normalised = drop};
template <>
inline constexpr mark_row marks_row<op::cumprod> = marks_row<op::cumsum>;

}  // namespace dimwise::detail

// SPDX-License-Identifier: BSL-1.0
// dimwise/shape/marks_table/rows.hpp -- the table of marks: an operation a row, an effect on each mark a column.
//
// Layer: shape. Texts follow the effects: what the operation sets, what it needs, a note.
// Tests: tests/shape/marks.test.cpp
#pragma once

#include <dimwise/shape/marks_table/row.hpp>

namespace dimwise::detail {

// clang-format off
#define DIMWISE_DETAIL_MARKS_TABLE(ROW, SAME)                                                                          \
  /* operation              raw      score    masked   biased   normal.  weighted log_norm rotated  indexed  partial */\
  /* products and elementwise operations */                                                                            \
  ROW(contract,             by_rule, by_rule, refuse,  drop,    by_rule, by_rule, drop,    by_rule, drop,    by_rule,  \
      "raw", "",                                                                                                       \
      "raw and score stay when heads are mixed and are refused over positions; normalised and weighted end "           \
      "when contracted over their dimension, normalised also when heads are mixed; rotated ends with its "             \
      "feature, turned by the same positions in both operands; partial is set over a shard, and one factor "           \
      "may have it")                                                                                                   \
  ROW(outer,                keep,    keep,    refuse,  drop,    weaken,  keep,    drop,    keep,    drop,    by_rule)  \
  ROW(scores,               by_rule, by_rule, refuse,  drop,    by_rule, by_rule, drop,    by_rule, drop,    refuse,   \
      "score", "a product that is raw", "contract and scaled in one word")                                             \
  ROW(scaled,               drop,    refuse,  keep,    keep,    refuse,  refuse,  drop,    keep,    keep,    refuse,   \
      "score", "raw")                                                                                                  \
  SAME(unscaled, scaled)                                                                                               \
  ROW(elementwise,          keep,    keep,    keep,    keep,    weaken,  keep,    drop,    keep,    keep,    by_rule,  \
      "", "", "the marks of all operands; what is masked stays masked; only the same kind is added to what is "        \
      "rotated; what is added to scores sets biased_for and is not masked, and a factor adds its dimensions "          \
      "to it; partial is added to the same partial only, and one factor may have it")                                  \
  SAME(divide, elementwise)                                                                                            \
  ROW(map,                  keep,    keep,    by_rule, drop,    weaken,  keep,    by_rule, keep,    keep,    refuse,   \
      "", "", "masked values pass exp and sigmoid only, which end the mark: both are 0 there; exp of log_normalised "  \
      "is normalised, and log of normalised is log_normalised")                                                        \
  ROW(compare,              drop,    drop,    by_rule, drop,    drop,    drop,    drop,    drop,    keep,    refuse,   \
      "", "", "true and false are neither scores nor weights; masked values are not compared")                         \
  ROW(where,                keep,    keep,    by_rule, drop,    weaken,  keep,    drop,    keep,    keep,    refuse,   \
      "", "", "the marks of all operands; masked values are refused, and rotated ones beside others, but for pow")     \
  SAME(maximum, where)                                                                                                 \
  SAME(minimum, where)                                                                                                 \
  SAME(clamp, where)                                                                                                   \
  SAME(pow, where)                                                                                                     \
  ROW(quantised,            keep,    keep,    refuse,  keep,    weaken,  keep,    drop,    keep,    keep,    refuse)   \
  SAME(rounded, quantised)                                                                                             \
  /* masks, softmax, reductions, norms and losses */                                                                   \
  ROW(masked,               keep,    keep,    by_rule, keep,    refuse,  refuse,  drop,    keep,    keep,    refuse,   \
      "masked_for", "", "masked_for becomes the dimensions that both masks serve")                                     \
  ROW(biased,               refuse,  keep,    keep,    keep,    refuse,  refuse,  drop,    keep,    keep,    refuse,   \
      "biased_for", "",                                                                                                \
      "biased_for names the dimensions of the bias that a softmax may have; of a bias made from positions "            \
      "its key side; the bias itself is not masked")                                                                   \
  ROW(softmax,              refuse,  drop,    by_rule, by_rule, refuse,  refuse,  drop,    keep,    keep,    refuse,   \
      "normalised", "", "masked_for and biased_for must name its dimension, and end")                                  \
  ROW(log_softmax,          refuse,  drop,    by_rule, by_rule, refuse,  refuse,  drop,    keep,    keep,    refuse,   \
      "log_normalised", "", "masked_for and biased_for must name its dimension, and end")                              \
  ROW(renormalise,          refuse,  refuse,  refuse,  drop,    drop,    drop,    drop,    keep,    keep,    refuse,   \
      "normalised")                                                                                                    \
  ROW(argmax,               drop,    drop,    by_rule, drop,    drop,    drop,    drop,    keep,    keep,    refuse,   \
      "", "", "masked_for must name its dimension")                                                                    \
  ROW(top_k,                keep,    keep,    by_rule, keep,    weaken,  keep,    drop,    keep,    keep,    refuse,   \
      "", "", "masked_for must name its dimension, and ends")                                                          \
  ROW(sum,                  by_rule, by_rule, by_rule, drop,    by_rule, by_rule, drop,    keep,    keep,    keep,     \
      "partial over a shard", "",                                                                                      \
      "raw and score end with a position; masked_for must name its dimension, and ends; weighted is reduced "          \
      "over its dimension, or over parallel ones, which keep it; the mean over heads keeps normalised")                \
  SAME(mean, sum)                                                                                                      \
  ROW(max,                  by_rule, by_rule, by_rule, drop,    by_rule, by_rule, drop,    keep,    keep,    refuse,   \
      "", "", "raw and score end with a position; masked_for must name its dimension, and ends; weighted is reduced "  \
      "over its dimension, or over parallel ones, which keep it; the mean over heads keeps normalised")                \
  SAME(min, max)                                                                                                       \
  SAME(norm, max)                                                                                                      \
  SAME(prod, max)                                                                                                      \
  ROW(logsumexp,            refuse,  drop,    by_rule, drop,    refuse,  refuse,  drop,    keep,    keep,    refuse,   \
      "", "", "masked_for must name its dimension, and ends")                                                          \
  ROW(cross_entropy,        refuse,  drop,    by_rule, by_rule, refuse,  refuse,  refuse,  keep,    keep,    refuse,   \
      "", "", "of the logits; masked_for and biased_for must name their alternatives, and end; targets are weights")   \
  SAME(kl_divergence, cross_entropy)                                                                                   \
  ROW(mean_squared_error,   keep,    keep,    refuse,  keep,    keep,    keep,    keep,    by_rule, keep,    refuse,   \
      "", "", "what is rotated is compared with what is rotated alike")                                                \
  ROW(binary_cross_entropy, refuse,  keep,    refuse,  keep,    refuse,  refuse,  refuse,  by_rule, keep,    refuse,   \
      "", "", "of the logits; targets are numbers")                                                                    \
  ROW(standardize,          keep,    keep,    refuse,  drop,    weaken,  keep,    drop,    keep,    keep,    refuse)   \
  SAME(layer_norm, standardize)                                                                                        \
  SAME(rms_norm, standardize)                                                                                          \
  SAME(cumsum, standardize)                                                                                            \
  SAME(cumprod, standardize)                                                                                           \
  /* views, indexing, joins and assignment */                                                                          \
  ROW(part,                 keep,    keep,    by_rule, keep,    by_rule, by_rule, by_rule, by_rule, keep,    keep,     \
      "", "", "marks over the sum become the part's, normalised becomes weighted, log_normalised ends; rotations of "  \
      "other parts end")                                                                                               \
  ROW(slice,                keep,    keep,    keep,    keep,    by_rule, keep,    by_rule, by_rule, keep,    keep,     \
      "", "", "normalised over the sliced dimension becomes weighted, log_normalised ends")                            \
  SAME(replace_at, slice)                                                                                              \
  SAME(assign_at, slice)                                                                                               \
  ROW(at,                   keep,    keep,    keep,    by_rule, by_rule, by_rule, by_rule, by_rule, keep,    keep,     \
      "indexed", "", "what speaks of the removed dimension ends, masked_for aside")                                    \
  SAME(unstack, at)                                                                                                    \
  ROW(concat,               keep,    keep,    by_rule, by_rule, by_rule, keep,    by_rule, keep,    keep,    keep,     \
      "", "the same marks on every operand, masked_for and biased_for aside",                                          \
      "masked_for of a part becomes that of the whole, and masks serve the same; normalised over the grown "           \
      "dimension becomes weighted, log_normalised ends; biased_for names the grown dimension as well")                 \
  ROW(stack,                keep,    keep,    by_rule, by_rule, keep,    keep,    keep,    keep,    by_rule, keep,     \
      "", "the same marks on every operand, masked_for and biased_for aside",                                          \
      "masks serve the same; indexed ends for the dimension that is added; biased_for names it as well "               \
      "where it may be chosen from")                                                                                   \
  ROW(gather,               keep,    keep,    refuse,  keep,    weaken,  keep,    by_rule, keep,    keep,    keep,     \
      "", "", "of the ids' own marks indexed stays; log_normalised ends along its dimension, stays along one that "    \
      "its ids do not share, and is refused along others")                                                             \
  ROW(roll,                 keep,    keep,    keep,    keep,    keep,    keep,    keep,    keep,    keep,    keep,     \
      "", "", "elements change places and keep what they are: rotated features keep the angles of the places that "    \
      "they had")                                                                                                      \
  SAME(flip, roll)                                                                                                     \
  ROW(sort,                 keep,    keep,    refuse,  keep,    weaken,  keep,    drop,    drop,    keep,    refuse,   \
      "", "", "elements change places, other ones for each row: weights no longer belong to their values")             \
  ROW(argsort,              drop,    drop,    refuse,  drop,    drop,    drop,    drop,    drop,    keep,    refuse)   \
  ROW(one_hot,              keep,    keep,    keep,    keep,    keep,    keep,    keep,    keep,    by_rule, refuse,   \
      "", "", "the ids' own; indexed ends for the dimension that is added")                                            \
  ROW(scatter_add,          by_rule, by_rule, refuse,  drop,    by_rule, by_rule, drop,    by_rule, by_rule, keep,     \
      "", "", "as the sum over the named dimensions of the ids; indexed ends for the dimension that is made")          \
  ROW(broadcast,            keep,    keep,    keep,    keep,    keep,    keep,    keep,    keep,    by_rule, keep,     \
      "", "", "indexed ends for the dimension that is added")                                                          \
  SAME(broadcast_like, broadcast)                                                                                      \
  ROW(diagonal,             keep,    keep,    keep,    by_rule, by_rule, by_rule, by_rule, by_rule, keep,    keep,     \
      "", "", "what speaks of the two dimensions ends, masked_for aside")                                              \
  ROW(rotary,               refuse,  refuse,  refuse,  keep,    refuse,  refuse,  drop,    by_rule, keep,    refuse,   \
      "rotated", "", "the same feature is not rotated twice")                                                          \
  ROW(unroll,               keep,    keep,    refuse,  drop,    weaken,  keep,    drop,    keep,    keep,    refuse)   \
  SAME(pool, unroll)                                                                                                   \
  ROW(plain,                drop,    drop,    drop,    drop,    drop,    drop,    drop,    drop,    drop,    keep,     \
      "", "", "the visible way to end every mark but partial")                                                         \
  ROW(assign,               keep,    keep,    keep,    keep,    keep,    keep,    keep,    keep,    drop,    keep,     \
      "", "", "a declared type must name the same marks")
// clang-format on

#define DIMWISE_DETAIL_MARKS(operation, ...) \
  template <>                                \
  inline constexpr mark_row marks_row<op::operation> = {__VA_ARGS__};
#define DIMWISE_DETAIL_SAME_MARKS(operation, other) DIMWISE_DETAIL_MARKS(operation, marks_row<op::other>)
DIMWISE_DETAIL_MARKS_TABLE(DIMWISE_DETAIL_MARKS, DIMWISE_DETAIL_SAME_MARKS)
#undef DIMWISE_DETAIL_SAME_MARKS
#undef DIMWISE_DETAIL_MARKS
#undef DIMWISE_DETAIL_MARKS_TABLE

}  // namespace dimwise::detail

// SPDX-License-Identifier: BSL-1.0
// dimwise/shape/marks_table.hpp -- the one place that says what every operation does with every mark.
//
// Layer: shape. The rules read it, and the table of docs/reference/marks.md is printed from it.
// Tests: tests/shape/marks.test.cpp; every `refuse` has a case in tests/compile_fail.
#pragma once

#include <dimwise/shape/shape.hpp>

namespace dimwise {

/// The operations, as types: in errors, in `explain`, and as the rows of the table of marks.
namespace op {
struct contract;
struct outer;
struct scores;
struct scaled;
struct unscaled;
struct elementwise;
struct divide;
struct map;
struct compare;
struct where;
struct maximum;
struct minimum;
struct clamp;
struct pow;
struct masked;
struct biased;
struct softmax;
struct log_softmax;
struct renormalise;
struct argmax;
struct top_k;
struct sum;
struct mean;
struct max;
struct min;
struct logsumexp;
struct norm;
struct prod;
struct standardize;
struct layer_norm;
struct rms_norm;
struct rename;
struct relabel;
struct permute;
struct split;
struct merge;
struct part;
struct slice;
struct at;
struct unstack;
struct replace_at;
struct assign_at;
struct concat;
struct append;
struct stack;
struct gather;
struct roll;
struct flip;
struct sort;
struct argsort;
struct one_hot;
struct scatter_add;
struct broadcast;
struct broadcast_like;
struct diagonal;
struct rotary;
struct cumsum;
struct cumprod;
struct cross_entropy;
struct kl_divergence;
struct mean_squared_error;
struct binary_cross_entropy;
struct linear_attention;
struct skew;
struct unroll;
struct pool;
struct padding;
struct allow;
struct block;
struct whole_rows;
struct mask_and;
struct mask_or;
struct causal;
struct window;
struct prefix;
struct document;
struct dequantised;
struct quantised;
struct rounded;
struct plain;
struct assign;
}  // namespace op

namespace detail {

// What an operation does with a mark of its operand.
enum class effect : unsigned char {
  keep,     // the result has it too
  drop,     // it ends here
  refuse,   // the operation does not take such an operand
  weaken,   // normalised becomes weighted
  by_rule,  // the operation's rule decides, as `note` says
};

struct mark_row {
  effect raw = effect::keep;
  effect score = effect::keep;
  effect masked_for = effect::keep;
  effect biased_for = effect::keep;
  effect normalised = effect::keep;
  effect weighted = effect::keep;
  effect log_normalised = effect::keep;
  effect rotated = effect::keep;
  effect indexed = effect::keep;
  effect partial = effect::refuse;  // what does not say that it is linear is not
  const char* sets = "";
  const char* needs = "";
  const char* note = "";
};

// Operations that keep every mark. A new operation has a row, or is named here.
template <class Op>
inline constexpr bool keeps_every_mark =
    is_any_of<Op, op::rename, op::relabel, op::permute, op::split, op::merge, op::append, op::linear_attention,
              op::skew, op::padding, op::allow, op::block, op::whole_rows, op::mask_and, op::mask_or, op::causal,
              op::window, op::prefix, op::document, op::dequantised>;

// Of these, the views of elements, which are linear.
template <class Op>
inline constexpr bool keeps_partial = is_any_of<Op, op::rename, op::relabel, op::permute, op::split, op::merge>;

template <class Op>
inline constexpr mark_row marks_row = [] {
  static_assert(keeps_every_mark<Op>, "dimwise: this operation has no row in the table of marks");
  mark_row row;
  if (keeps_partial<Op>) { row.partial = effect::keep; }
  return row;
}();

using enum effect;
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
inline constexpr mark_row marks_row<op::quantised> = {
    .masked_for = refuse, .normalised = weaken, .log_normalised = drop};
template <>
inline constexpr mark_row marks_row<op::rounded> = marks_row<op::quantised>;
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
inline constexpr mark_row marks_row<op::cumsum> = {
    .masked_for = refuse, .biased_for = drop, .normalised = weaken, .log_normalised = drop};
template <>
inline constexpr mark_row marks_row<op::cumprod> = marks_row<op::cumsum>;
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

template <class Mark>
consteval effect effect_in(const mark_row& row) {
  constexpr effect mark_row::* columns[] = {
      &mark_row::raw,        &mark_row::score,    &mark_row::masked_for,     &mark_row::biased_for,
      &mark_row::normalised, &mark_row::weighted, &mark_row::log_normalised, &mark_row::rotated,
      &mark_row::indexed,    &mark_row::partial};
  return row.*columns[mark_order<Mark>];
}

template <class Mark>
struct weakened {
  using type = list<Mark>;
};
template <class... D>
struct weakened<normalised<D...>> {
  using type = list<weighted<D...>>;
};

// The marks that the result has by the table, and the first mark that the operation refuses (void where none).
template <class Op, class Marks>
struct effects {
  using kept = list<>;
  using refused = void;
};
template <class Op, class... M>
  requires(sizeof...(M) > 0)
struct effects<Op, list<M...>> {
  template <class Mark>
  static constexpr effect of = effect_in<Mark>(marks_row<Op>);
  using kept = join_t<typename std::conditional_t<of<M> == weaken, weakened<M>,
                                                  std::type_identity<list_if<of<M> == keep, M>>>::type...>;
  template <class... R>
  static auto first(list<R...>) -> element_t<0, list<R..., void>>;
  using refused = decltype(first(join_t<list_if<of<M> == refuse, M>...>{}));
};
template <class Op, class Shape>
using kept_marks_t = typename effects<Op, marks_t<Shape>>::kept;

}  // namespace detail
}  // namespace dimwise

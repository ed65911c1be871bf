// SPDX-License-Identifier: BSL-1.0
// dimwise/grad/loss.hpp -- losses: predictions and targets as an average over their elements.
//
// Layer: grad. Nothing is broadcast in a loss, logits are normalised by the loss itself, and its mean goes over
// dimensions that its type names.
// Tests: tests/grad/training/loss.test.cpp, tests/compile_fail/grad/
//
//   cross_entropy<vocab>(logits, next)                                        // average<T, batch, seq>
//   cross_entropy<vocab>(logits, next, padding<seq>(lengths), label_smoothing{0.1})
//   next_word_loss<seq>(model(tokens), tokens)
#pragma once

#include <dimwise/eval/kernels/loss.hpp>
#include <dimwise/expr/elements/choose.hpp>
#include <dimwise/expr/rearrange/join.hpp>
#include <dimwise/expr/rearrange/reorder.hpp>
#include <dimwise/grad/loss_options.hpp>
#include <dimwise/grad/loss_sums.hpp>
#include <dimwise/grad/operations/adjoint.hpp>

#include <limits>

namespace dimwise {

namespace detail {

// The sum of the weights of the targets that count.
template <class Rest, class V, class X, class Y, class W, class Counts>
double weighed_elements(const X& x, const Y& y, const W& weights, const Counts& counts) {
  if constexpr (is_constant<W> || real_element<value_of<Y>>) {
    return counted_elements<Rest>(x.extents(), counts);
  } else {
    const auto e = extents_from<Rest>("cross_entropy", y.extents());
    // Where nothing counts the target may be anything: it is read as 0.
    const auto targets = make_node<Rest, id<V>>(apply<fn::choose>{}, e, counts, y, constant<id<V>>({id<V>(0)}, {}));
    const auto picked = gathered<Rest, V, W, std::remove_cv_t<decltype(targets)>>({}, e, weights, targets);
    const tensor sum = summed_all<Rest>(where_counted<Rest>(picked, counts));
    return static_cast<double>(*sum.data());
  }
}

template <class Rest, class V, class X, class Y, class W, class Counts>
auto make_cross_entropy(const X& x, const Y& y, const W& weights, const Counts& counts, double smoothing,
                        bool divergence) {
  using T = value_of<X>;
  (void)merge_extents<both_atoms_t<X, Y>>("cross_entropy", x.extents(), y.extents());
  return cross_entropy_node<Rest, T, V, X, Y, W, Counts>(
      {smoothing, divergence}, extents_from<Rest>("cross_entropy", x.extents(), y.extents()), x, y, weights, counts);
}

template <class Rest, class T, class V, class X, class Y, class W, class Counts>
struct adjoint_of<cross_entropy_node<Rest, T, V, X, Y, W, Counts>> {
  template <class C>
  static constexpr adjoint_function<C>* of_records = &send_cross_entropy<C>;
};

template <class Rest, class V, class X, class Y, class Counts, class... Options>
auto cross_entropy_of(const X& x, const Y& y, const Counts& counts, const Options&... options) {
  const auto weights = weights_among<value_of<X>>(options...);
  const double smoothing = option_of(label_smoothing{}, options...).amount;
  if (!(smoothing >= 0 && smoothing <= 1)) {
    raise<number_error>(error{} << "label_smoothing: the amount is " << smoothing
                                << ", a number from 0 to 1 is expected (R22)");
  }
  if constexpr ((is_class_weights<Options> || ...)) { check_weights("class_weights", x, weights, false); }
  return averaged<Rest>(summed_all<Rest>(make_cross_entropy<Rest, V>(x, y, weights, counts, smoothing, false)),
                        weighed_elements<Rest, V>(x, y, weights, counts));
}

// ---- the next token -----------------------------------------------------------------------------------------------

template <class P, class Tokens, class Verdict>
consteval auto judge_positions() {
  using naming = naming_objection_t<op::next_word_loss, list<P>, shape_of<Tokens>>;
  if constexpr (!std::is_same_v<naming, nothing>) {
    return answer<naming>{};
  } else if constexpr (!filter<list<P>>::all_ordered) {
    return answer<
        ERROR_R13_needs_ordered_positions<op::next_word_loss, over_t<list<P>>, operand_t<shape_of<Tokens>>>>{};
  } else if constexpr (is_sharded<P>) {  // the successor of the last token is on another rank
    return answer<
        ERROR_R24_operation_goes_over_a_shard<op::next_word_loss, over_t<list<P>>, operand_t<shape_of<Tokens>>>>{};
  } else {
    return answer<Verdict>{};
  }
}
template <class P, class Tokens, class Verdict>
using with_positions = typename decltype(judge_positions<P, Tokens, Verdict>())::type;

// Tokens that the caller has shifted begin at another position than the logits.
template <class P, class A, class B>
void check_unshifted(const A& logits, const B& tokens) {
  if constexpr (is_in<P, typename A::atoms> && is_in<P, typename B::atoms>) {
    const auto place = [](const auto& e) { return static_cast<long long>(e.template origin<P>("next_word_loss")); };
    if (logits.template has_origin<P>() && tokens.template has_origin<P>() && place(logits) != place(tokens)) {
      raise<origin_error>(error{} << "next_word_loss: the tokens begin at position " << place(tokens) << " of "
                                  << dimension_name<P>() << " and the logits at " << place(logits)
                                  << "; it shifts the targets itself: pass both unshifted (R22)");
    }
  }
}
template <class P, class Y>
auto reorder_back(const Y& tokens) {
  const extent_t n = tokens.extents().template extent<P>();
  return reordered<shape_of<Y>, orders::roll, P, Y>({n == 0 ? 0 : n - 1}, tokens.extents(), tokens);
}
// Which tokens have a successor that counts.
template <class P, class Rest, class Extents, class Counts>
auto before_the_last(const Extents& e, const Counts& counts) {
  using last_shape = shape<P>;
  auto last = tensor<bool, P>::for_overwriting(extents_from<last_shape>("next_word_loss", e));
  bool* const to = last.overwrite();
  const std::size_t n = last.size();
  for (std::size_t i = 0; i < n; ++i) { to[i] = i + 1 < n; }
  if constexpr (is_packed<P>) {
    std::size_t end = 0;
    for (const std::size_t length : e.template documents<P>()) {
      end += length;
      if (length > 0) { to[end - 1] = false; }
    }
  }
  if constexpr (is_constant<Counts>) {
    return last;
  } else {
    using places = make_shape_t<union_t<dims_t<shape_of<Counts>>, list<P>>, list<>>;
    const auto both = [&](const auto& counted) {
      return tensor(make_node<places, bool>(apply<fn::choose>{}, extents_from<places>("next_word_loss", e), counted,
                                            last, constant<bool>({false}, {})));
    };
    if constexpr (is_in<P, dims_t<shape_of<Counts>>>) {
      return both(reorder_back<P>(counts));
    } else {
      return both(counts);
    }
  }
}

// ---- the calls -----------------------------------------------------------------------------------------------------

namespace calls {

struct cross_entropy {
  template <operand X, class... More>
  static auto judge(list<>, const X&, const More&...) -> unnamed<op::cross_entropy, X>;
  template <class V, class... D, operand X, operand Y, option_of_alternatives... Options>
    requires options_once<Options...>
  static auto judge(list<V, D...>, const X&, const Y&, const Options&...)
      -> alternatives_verdict<op::cross_entropy, V, list<D...>, X, Y, Options...>;
  template <class Verdict, class V, class... D, operand X, operand Y, class... Options>
  static auto make(list<V, D...>, const X& x, const Y& y, const Options&... options) {
    using rest = typename Verdict::shape;
    const auto counts = counted_places<rest>(extents_from<rest>("cross_entropy", x.extents()), options...);
    return cross_entropy_of<rest, V>(x, y, counts, options...);
  }
};

// The loss of each token that has a successor, by that successor.
struct next_word_loss {
  template <class P, class... D, operand X, operand Y, option_of_alternatives... Options>
    requires(options_once<Options...> && !std::is_same_v<ids_of_t<Y>, nothing>)
  static auto judge(list<P, D...>, const X&, const Y&, const Options&...)
      -> with_positions<P, Y, alternatives_verdict<op::cross_entropy, ids_of_t<Y>, list<D...>, X, Y, Options...>>;
  template <class Verdict, class P, class... D, operand X, operand Y, class... Options>
  static auto make(list<P, D...>, const X& logits, const Y& tokens, const Options&... options) {
    using V = ids_of_t<Y>;
    using rest = typename Verdict::shape;
    check_unshifted<P>(logits.extents(), tokens.extents());
    const auto e = extents_from<rest>("next_word_loss", logits.extents(), tokens.extents());
    const auto next = tensor(reorder_back<P>(tokens));
    const auto counts = before_the_last<P, rest>(e, counted_places<rest>(e, options...));
    return cross_entropy_of<rest, V>(logits, next, counts, options...);
  }
};

struct kl_divergence {
  template <operand X, class... More>
  static auto judge(list<>, const X&, const More&...) -> unnamed<op::kl_divergence, X>;
  template <class V, class... D, operand X, operand Y, option_of_divergence... Options>
    requires(options_once<Options...> && std::is_same_v<ids_of_t<Y>, nothing>)
  static auto judge(list<V, D...>, const X&, const Y&, const Options&...)
      -> alternatives_verdict<op::kl_divergence, V, list<D...>, X, Y, Options...>;
  template <class Verdict, class V, class... D, operand X, operand Y, class... Options>
  static auto make(list<V, D...>, const X& student, const Y& teacher, const Options&... options) {
    using rest = typename Verdict::shape;
    const double t = option_of(temperature{}, options...).value;
    using numbers = std::numeric_limits<untracked_t<value_of<X>>>;
    const auto fits = [](double x) { return x >= double{numbers::min()} && x <= double{numbers::max()}; };
    if (!(t > 0) || !fits(t * t) || !fits(1 / (t * t))) {
      raise<number_error>(error{} << "kl_divergence: the temperature is " << t
                                  << ", a number of more than 0 whose square and "
                                     "its inverse are finite is expected (R22)");
    }
    const auto counts = counted_places<rest>(extents_from<rest>("kl_divergence", student.extents()), options...);
    const auto sum_of = [&](const auto& q) {
      const auto one = weights_among<value_of<X>>();
      if constexpr (is_given<temperature, Options...>) {
        return summed_all<rest>(make_cross_entropy<rest, V>(student * (1 / t), q, one, counts, 0, true)) * (t * t);
      } else {
        return summed_all<rest>(make_cross_entropy<rest, V>(student, q, one, counts, 0, true));
      }
    };
    const double count = counted_elements<rest>(student.extents(), counts);
    if constexpr (is_tracked<Y>) {  // the teacher learns too: by operations, each of which has its adjoint
      const auto difference = dimwise::log_softmax<V>(teacher * (1 / t)) - dimwise::log_softmax<V>(student * (1 / t));
      const tensor q = dimwise::softmax<V>(teacher * (1 / t));
      // 0 log 0 is 0, also where the student excludes the class.
      const auto rows = dimwise::sum<V>(q * dimwise::where(detached(q) > 0, difference, 0));
      return averaged<rest>(summed_all<rest>(where_counted<rest>(rows, counts)) * (t * t), count);
    } else if constexpr (marked_t<normalised, marks_t<shape_of<Y>>>::size > 0) {
      return averaged<rest>(sum_of(teacher), count);
    } else {
      return averaged<rest>(sum_of(tensor(dimwise::softmax<V>(teacher * (1 / t)))), count);
    }
  }
};

struct mean_squared_error {
  template <class... D, operand X, operand Y, where_it_counts... Options>
    requires options_once<Options...>
  static auto judge(list<D...>, const X&, const Y&, const Options&...)
      -> pairs_verdict<op::mean_squared_error, list<D...>, X, Y, Options...>;
  template <class Verdict, class... D, operand X, operand Y, class... Options>
  static auto make(list<D...>, const X& x, const Y& y, const Options&... options) {
    using shape = typename Verdict::shape;
    using T = std::common_type_t<value_of<X>, value_of<Y>>;
    const auto e = extents_from<shape>("mean_squared_error", x.extents(), y.extents());
    const auto difference = make_node<shape, T>(apply<fn::subtract>{}, e, x, y);
    return average_of<shape>(make_node<shape, T>(apply<fn::square>{}, e, difference), options...);
  }
};

struct binary_cross_entropy {
  template <class... D, operand X, operand Y, option_of_binary... Options>
    requires options_once<Options...>
  static auto judge(list<D...>, const X&, const Y&, const Options&...)
      -> pairs_verdict<op::binary_cross_entropy, list<D...>, X, Y, Options...>;
  template <class Verdict, class... D, operand X, operand Y, class... Options>
  static auto make(list<D...>, const X& x, const Y& y, const Options&... options) {
    using shape = typename Verdict::shape;
    using T = std::common_type_t<value_of<X>, value_of<Y>>;
    const auto e = extents_from<shape>("binary_cross_entropy", x.extents(), y.extents());
    if constexpr ((is_positive_weight<Options> || ...)) {
      const auto weights = weights_among<T>(options...);
      check_weights("positive_weight", x, weights, (loss_mask<Options> || ...));
      return average_of<shape>(make_node<shape, T>(apply<fn::logistic_loss>{}, e, x, y, weights), options...);
    } else {
      return average_of<shape>(make_node<shape, T>(apply<fn::logistic_loss>{}, e, x, y), options...);
    }
  }
};

}  // namespace calls

}  // namespace detail

namespace no_adl {

/// How far the probabilities of the logits over V are from their targets: −Σ q log softmax<V>(x), averaged over all
/// other dimensions, which may be named after V: `cross_entropy<vocab, batch, seq>(logits, next)`.
///
///   cross_entropy<V>(logits, ids, options…):      [V, rest] x ids of V [rest]  ->  average<T, rest>
///   cross_entropy<V>(logits, weights, options…):  [V, rest] x [V, rest]        ->  average<T, rest>
///
/// Options in any order, each once: a mask over `rest` (positions that count), `label_smoothing{s}`, `class_weights(w)`
/// (the mean divides by the weights of the targets then), `all_documents{}`. Where the mask is false nothing is read
/// and the gradient is 0. Rejects what softmax rejects, normalised logits among it (R5, R6, R7, R13), logarithms of
/// probabilities and targets of other dimensions (R22), ids of another dimension (R18), packed positions unless
/// `all_documents{}` is passed (R19), targets that are tracked (R21). An id outside V throws `index_error`.
DIMWISE_DETAIL_OPERATION(cross_entropy)

/// The cross-entropy of each token's logits and the next token; the last token of a sequence, or of each packed
/// document, has none. It shifts the targets itself: pass logits and tokens of the same positions. Throws
/// `origin_error` if both have origins and these differ.
///
///   next_word_loss<P>(logits, tokens, options…):  [P, V, rest] x ids of V [P, rest]  ->  average<T, P, rest>
///
/// Options as for `cross_entropy`; a mask says which tokens count as targets. Rejects what `cross_entropy` rejects, and
/// P without an order (R13).
DIMWISE_DETAIL_OPERATION(next_word_loss)

/// Σ q log(q / softmax<V>(student)), averaged over all other dimensions and never over V.
///
///   kl_divergence<V>(student, teacher, options…):  [V, rest] x [V, rest]  ->  average<T, rest>
///
/// The teacher is logits, or probabilities where its type says normalised<V>. Options: a mask over `rest`,
/// `temperature{t}`, `all_documents{}`. Logits of a teacher may be tracked beside those of a student that is tracked
/// (R22). Rejects what `cross_entropy` rejects.
DIMWISE_DETAIL_OPERATION(kl_divergence)

/// (x − y)², averaged over all dimensions, or over what a mask shows.
///
///   mean_squared_error(x, y, options…):  [D…] x [D…]  ->  average<T, D…>
///
/// Both have the same dimensions: nothing is broadcast (R22). Options: a mask over D…, `all_documents{}`.
DIMWISE_DETAIL_OPERATION(mean_squared_error)

/// log(1 + exp(x)) − x y for logits x and targets y between 0 and 1, averaged over all dimensions, or over what a mask
/// shows.
///
///   binary_cross_entropy(logits, targets, options…):  [D…] x [D…]  ->  average<T, D…>
///
/// Both have the same dimensions: nothing is broadcast (R22). Options: a mask over D…, `positive_weight(w)` with
/// dimensions among D…, `all_documents{}`.
DIMWISE_DETAIL_OPERATION(binary_cross_entropy)

}  // namespace no_adl

}  // namespace dimwise

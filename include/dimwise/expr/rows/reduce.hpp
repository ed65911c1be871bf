// SPDX-License-Identifier: BSL-1.0
// dimwise/expr/rows/reduce.hpp -- softmax, sums, means, maxima, norms: everything that goes over named dimensions of
// one operand.
//
// Layer: expr.
// Tests: tests/expr/rows/reduce.test.cpp, tests/compile_fail/softmax/, tests/compile_fail/reduce/
#pragma once

#include <dimwise/expr/elements/elementwise.hpp>
#include <dimwise/expr/masks/mask.hpp>
#include <dimwise/expr/operation.hpp>
#include <dimwise/expr/rows/nodes.hpp>
#include <dimwise/expr/untracked.hpp>
#include <dimwise/shape/all_documents.hpp>
#include <dimwise/shape/rules/reduce.hpp>

namespace dimwise {

namespace detail {

// ---- the calls ------------------------------------------------------------------------------------------------------

// The default of the number that a norm adds under its root: PyTorch's, as in `nn::layer_norm`.
inline constexpr double norm_epsilon = 1e-5;

namespace calls {

// Called without the dimensions that the operation goes over (R1).
template <class Op>
struct over_dimensions {
  template <operand X>
  static auto judge(list<>, const X&) -> unnamed<Op, X>;
};

// A row becomes a row; `Judged<D, X>` is the verdict.
template <class Op, class How, template <class, class> class Judged>
struct row_word : over_dimensions<Op> {
  using over_dimensions<Op>::judge;
  template <class... D, operand X>
    requires(sizeof...(D) > 0)
  static auto judge(list<D...>, const X&) -> Judged<list<D...>, X>;
  template <class Verdict, class... D, operand X>
  [[gnu::always_inline]] static auto make(list<D...>, const X& x) {
    return make_rows<typename Verdict::shape, How, list<D...>>(x);
  }
};
// A row becomes one element, of what a mask allows where one is given.
template <class Op, class How>
struct total_word : over_dimensions<Op> {
  using over_dimensions<Op>::judge;
  template <class... D, operand X>
    requires(sizeof...(D) > 0)
  static auto judge(list<D...>, const X&) -> of_numbers<Op, rule::reduce<Op, list<D...>, shape_of<X>>, X>;
  template <class... D, operand X, mask M>
    requires(sizeof...(D) > 0)
  static auto judge(list<D...>, const X&, const M&)
      -> of_numbers<op::masked, rule::reduce_masked<Op, list<D...>, shape_of<X>, typename M::facts>, X>;
  template <class... D, operand X, unclear_mask M>
    requires(sizeof...(D) > 0)
  static auto judge(list<D...>, const X&, const M&) -> unclear_mask_error_t<Op, M, X>;
  template <class Verdict, class... D, operand X>
  [[gnu::always_inline]] static auto make(list<D...>, const X& x) {
    if constexpr (std::is_same_v<Op, op::mean> && (is_sharded<D> || ...)) {
      return make_term_of_mean<Verdict, D...>(x);
    } else {
      return make_total<typename Verdict::shape, value_of<X>, How, list<D...>>(x);
    }
  }
  template <class Verdict, class... D, operand X, mask M>
  [[gnu::always_inline]] static auto make(list<D...>, const X& x, const M& m) {
    const auto visible = dimwise::masked(x, m);
    using total = of_numbers<Op, rule::reduce<Op, list<D...>, shape_of<decltype(visible)>>, decltype(visible)>;
    return make<total>(list<D...>{}, visible);
  }
};
// The same, which says where it goes over all documents.
template <class Op, class How>
struct sum_word : total_word<Op, How> {
  using total_word<Op, How>::judge;
  using total_word<Op, How>::make;
  template <class... D, operand X>
    requires(sizeof...(D) > 0)
  static auto judge(list<D...>, const X&, all_documents)
      -> of_numbers<Op, rule::reduce_all<Op, list<D...>, shape_of<X>>, X>;
  template <class Verdict, class... D, operand X>
  [[gnu::always_inline]] static auto make(list<D...> over, const X& x, all_documents) {
    return make<Verdict>(over, x);
  }
};
// A norm over features, with γ and β where they are given.
template <class Op, class How>
struct norm_word : over_dimensions<Op> {
  using over_dimensions<Op>::judge;
  template <class... D, operand X>
    requires(sizeof...(D) > 0)
  static auto judge(list<D...>, const X&, double = 0) -> of_numbers<Op, rule::norm<Op, list<D...>, shape_of<X>>, X>;
  template <class Verdict, class... D, operand X>
  [[gnu::always_inline]] static auto make(list<D...>, const X& x, double epsilon = norm_epsilon) {
    if (!(epsilon >= 0)) { throw_number(raw_type_name<Op>(), "epsilon", epsilon, "number of 0 or more"); }
    return make_rows<typename Verdict::shape, How, list<D...>>(x, epsilon);
  }
  // The norm before γ.
  template <class... D, operand X>
  static auto rows_of(list<D...> over, const X& x, double epsilon) {
    return make<rule::norm<Op, list<D...>, shape_of<X>>>(over, x, epsilon);
  }
};

template <class D, class X>
using softmax_verdict = of_scores<op::softmax, rule::softmax<op::softmax, D, shape_of<X>>, X>;
template <class D, class X>
using log_softmax_verdict = of_scores<op::log_softmax, rule::softmax<op::log_softmax, D, shape_of<X>>, X>;
template <class D, class X>
using renormalise_verdict = of_numbers<op::renormalise, rule::renormalise<D, shape_of<X>>, X>;

struct softmax : row_word<op::softmax, rows::softmax, softmax_verdict> {};
struct log_softmax : row_word<op::log_softmax, rows::log_softmax, log_softmax_verdict> {};
struct renormalise : row_word<op::renormalise, rows::renormalise, renormalise_verdict> {};
struct sum : sum_word<op::sum, totals::sum> {};
struct mean : sum_word<op::mean, totals::mean> {
  using sum_word<op::mean, totals::mean>::judge;
  using sum_word<op::mean, totals::mean>::make;
  // The mean over a shard, with the extent of the whole dimension. The last parameter tells it from the functions of
  // the base: clang 14 takes those for hidden by one of the same types, whatever is required.
  template <class... D, operand X, dimension_type Whole>
    requires((is_sharded<D> && std::is_same_v<whole_t<D>, Whole>) || ...)
  static auto judge(list<D...>, const X&, const Whole&, int = 0)
      -> of_numbers<op::mean, rule::mean_of_whole<Whole, list<D...>, shape_of<X>>, X>;
  template <class Verdict, class... D, operand X, dimension_type Whole>
  [[gnu::always_inline]] static auto make(list<D...>, const X& x, const Whole& whole, int = 0) {
    return make_term_of_mean<Verdict, D...>(x, whole);
  }
};
struct norm : total_word<op::norm, totals::norm> {};
struct prod : total_word<op::prod, totals::prod> {};
struct standardize : norm_word<op::standardize, rows::standardize> {};

struct logsumexp : over_dimensions<op::logsumexp> {
  using over_dimensions<op::logsumexp>::judge;
  template <class... D, operand X>
    requires(sizeof...(D) > 0)
  static auto judge(list<D...>, const X&)
      -> of_scores<op::logsumexp, rule::reduce<op::logsumexp, list<D...>, shape_of<X>>, X>;
  template <class Verdict, class... D, operand X>
  [[gnu::always_inline]] static auto make(list<D...>, const X& x) {
    return make_total<typename Verdict::shape, value_of<X>, totals::logsumexp, list<D...>>(x);
  }
};
struct argmax : over_dimensions<op::argmax> {
  using over_dimensions<op::argmax>::judge;
  template <class... D, operand X>
    requires(sizeof...(D) > 0)
  static auto judge(list<D...>, const X&)
      -> of_numbers<op::argmax, rule::reduce<op::argmax, list<D...>, shape_of<X>>, X>;
  template <class Verdict, class... D, operand X>
  [[gnu::always_inline]] static auto make(list<D...>, const X& x) {
    // Ids have no derivative: the node holds plain elements.
    return make_total<typename Verdict::shape, typename id_over<D...>::type, totals::argmax, list<D...>>(
        untracked_of(x));
  }
};
struct layer_norm : norm_word<op::layer_norm, rows::standardize> {
  using norm_word<op::layer_norm, rows::standardize>::judge;
  using norm_word<op::layer_norm, rows::standardize>::make;
  template <class... D, operand X, operand Gamma, operand Beta>
    requires(sizeof...(D) > 0)
  static auto judge(list<D...>, const X&, const Gamma&, const Beta&, double = 0)
      -> of_numbers<op::layer_norm,
                    rule::norm_with<op::layer_norm, list<D...>, shape_of<X>, shape_of<Gamma>, shape_of<Beta>>, X, Gamma,
                    Beta>;
  template <class Verdict, class... D, operand X, operand Gamma, operand Beta>
  [[gnu::always_inline]] static auto make(list<D...> over, const X& x, const Gamma& gamma, const Beta& beta,
                                          double epsilon = norm_epsilon) {
    return rows_of(over, x, epsilon) * gamma + beta;
  }
};
struct rms_norm : norm_word<op::rms_norm, rows::root_mean_square> {
  using norm_word<op::rms_norm, rows::root_mean_square>::judge;
  using norm_word<op::rms_norm, rows::root_mean_square>::make;
  template <class... D, operand X, operand Gamma>
    requires(sizeof...(D) > 0)
  static auto judge(list<D...>, const X&, const Gamma&, double = 0)
      -> of_numbers<op::rms_norm, rule::norm_with<op::rms_norm, list<D...>, shape_of<X>, shape_of<Gamma>>, X, Gamma>;
  template <class Verdict, class... D, operand X, operand Gamma>
  [[gnu::always_inline]] static auto make(list<D...> over, const X& x, const Gamma& gamma,
                                          double epsilon = norm_epsilon) {
    return rows_of(over, x, epsilon) * gamma;
  }
};
// The larger and the smaller of two elements, or over dimensions.
template <class Op, class How, class OfTwo, class F>
struct extreme_word : total_word<Op, How> {
  using total_word<Op, How>::judge;
  using total_word<Op, How>::make;
  template <class A, class B>
    requires(operand_pair<A, B>)
  static auto judge(list<>, const A&, const B&)
      -> of_numbers<OfTwo, rule::chosen<OfTwo, shape_or_none_t<A>, shape_or_none_t<B>>, A, B>;
  template <class Verdict, class A, class B>
  [[gnu::always_inline]] static auto make(list<>, const A& a, const B& b) {
    return make_binary<F, A, B, Verdict>(a, b);
  }
};
struct max : extreme_word<op::max, totals::max, op::maximum, fn::larger> {};
struct min : extreme_word<op::min, totals::min, op::minimum, fn::smaller> {};

}  // namespace calls

}  // namespace detail

namespace no_adl {

/// exp(x) / Σ exp(x) over the dimensions D; exactly 0 where masked, and everywhere in a row that is masked entirely.
///
///   softmax<D…>(x):  [D…, rest]  ->  [D…, rest], normalised<D…>
///
/// Rejects raw products (R6), what is normalised or has a static extent of 1 (R5), dimensions that are neither
/// attendable nor a choice (R13), masks that serve another dimension (R7), packed positions without documents (R19).
DIMWISE_DETAIL_OPERATION(softmax)
/// x − log Σ exp(x) over the dimensions D; −∞ where masked.
///
///   log_softmax<D…>(x):  [D…, rest]  ->  [D…, rest], log_normalised<D…>
///
/// Rejects what `softmax` rejects.
DIMWISE_DETAIL_OPERATION(log_softmax)
/// x / Σ x over the dimensions D, explicitly: slot attention's second normalisation, top-k routing. A row of sum 0
/// stays 0.
DIMWISE_DETAIL_OPERATION(renormalise)

/// Sums, means, maxima and minima over the dimensions D; what is masked does not count. With a mask after the operand,
/// over what it allows: `mean<seq>(x, padding<seq>(lengths))`.
///
///   sum<D…>(x), sum<D…>(x, mask):  [D…, rest]  ->  [rest]
///
/// Over a shard, each rank has a term of the sum, `partial<M>` (R23). `mean` divides by the whole extent: pass one that
/// is known at run time, `mean<shard<batch, dp>>(x, batch{n})` (R24).
///
/// The mean over nothing visible is 0. Rejects weighted products over other dimensions than theirs (R5), masks that
/// serve another dimension (R7), packed positions without documents (R19).
///
/// `max(a, b)` and `min(a, b)` are the larger and the smaller of two elements, `max(x, 0)`; NaN where one is NaN.
///
///   [larger] x [subset of it]  ->  [larger]
///
/// Refuse masked operands (R7), R8, R13, R18.
DIMWISE_DETAIL_OPERATION(sum)
DIMWISE_DETAIL_OPERATION(mean)
DIMWISE_DETAIL_OPERATION(max)
DIMWISE_DETAIL_OPERATION(min)

/// The Euclidean norm √Σx² over the dimensions D, whose squares neither overflow nor underflow; masked elements do not
/// count, and the norm of nothing is 0. The gradient is x / ‖x‖, and 0 where the norm is 0.
///
///   norm<D…>(x), norm<D…>(x, mask):  [D…, rest]  ->  [rest]
///
/// Rejects what `sum` rejects (R1, R5, R7, R19).
DIMWISE_DETAIL_OPERATION(norm)

/// The product over the dimensions D; masked elements do not count, and the product of nothing is 1. The gradient needs
/// no division: it is exact beside zeros.
///
///   prod<D…>(x), prod<D…>(x, mask):  [D…, rest]  ->  [rest]
///
/// Rejects what `sum` rejects (R1, R5, R7, R19).
DIMWISE_DETAIL_OPERATION(prod)

/// log Σ exp(x) over the dimensions D; −∞ where everything is masked.
DIMWISE_DETAIL_OPERATION(logsumexp)

/// The id of the largest element along D, the first where several are; NaN counts as largest. Along several dimensions
/// it is the id of their product, in the order in which they are named: `split_ids` takes it apart.
///
///   argmax<D>(x):     [D, rest]     ->  [rest], elements id<D>
///   argmax<A, B>(x):  [A, B, rest]  ->  [rest], elements id<merged<A, B>>
DIMWISE_DETAIL_OPERATION(argmax)

/// (x − mean) / √(variance + ε) over the dimensions D, any of them (batch norm, instance norm, …): `standardize<D…>(x,
/// ε)`.
DIMWISE_DETAIL_OPERATION(standardize)

/// `standardize<D…>(x) · γ + β` over features (Ba, Kiros and Hinton 2016); rejects other dimensions (R13). ε is 1e-5 if
/// not said.
///
///   layer_norm<D…>(x, ε), layer_norm<D…>(x, γ, β, ε):  [rest, D…] x [subset] x [subset]  ->  [rest, D…]
DIMWISE_DETAIL_OPERATION(layer_norm)

/// x / √(mean x² + ε) · γ over features (Zhang and Sennrich 2019); rejects other dimensions (R13). ε is 1e-5 if not
/// said.
///
///   rms_norm<D…>(x, ε), rms_norm<D…>(x, γ, ε):  [rest, D…] x [subset]  ->  [rest, D…]
DIMWISE_DETAIL_OPERATION(rms_norm)

}  // namespace no_adl

}  // namespace dimwise

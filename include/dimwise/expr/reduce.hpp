// SPDX-License-Identifier: BSL-1.0
// dimwise/expr/reduce.hpp -- softmax, sums, means, maxima, norms: everything that goes over named dimensions of one operand.
//
// Layer: expr.
// Tests: tests/expr/reduce.test.cpp, tests/compile_fail/softmax/, tests/compile_fail/reduce/
#pragma once

#include <dimwise/expr/elementwise.hpp>
#include <dimwise/expr/mask.hpp>
#include <dimwise/shape/rules/reduce.hpp>

namespace dimwise {

namespace detail {

// How a row (all elements of the dimensions `Over`) becomes a row of the same length.
namespace rows {
struct softmax {
  static constexpr const char* name = "softmax";
};
struct log_softmax {
  static constexpr const char* name = "log_softmax";
};
struct renormalise {
  static constexpr const char* name = "renormalise";
};
struct standardize {
  static constexpr const char* name = "standardize";
};
struct root_mean_square {
  static constexpr const char* name = "rms_norm";
};
struct scan {
  static constexpr const char* name = "scan";
};
}  // namespace rows

// How a row becomes one number.
namespace totals {
struct sum {
  static constexpr const char* name = "sum";
};
struct mean {
  static constexpr const char* name = "mean";
};
struct max {
  static constexpr const char* name = "max";
};
struct min {
  static constexpr const char* name = "min";
};
struct logsumexp {
  static constexpr const char* name = "logsumexp";
};
struct argmax {
  static constexpr const char* name = "argmax";
};
}  // namespace totals

// Each row over `Over` becomes a row of the same length.
template <class How, class Over>
struct rows_over {
  static constexpr const char* name = How::name;
  using how = How;
  using over = Over;
  double epsilon = 0;
};
template <class Shape, class How, class Over, class E>
using rowwise = node<rows_over<How, Over>, Shape, value_of<E>, E>;
template <class Shape, class How, class Over, class E>
auto make_rows(const E& e, double epsilon = 0) {
  return rowwise<Shape, How, Over, E>({epsilon}, e.extents(), e);
}

// Each row over `Over` becomes one element.
template <class How, class Over>
struct total_over {
  static constexpr const char* name = How::name;
  using how = How;
  using over = Over;
};
template <class Shape, class T, class How, class Over, class E>
using reduction = node<total_over<How, Over>, Shape, T, E>;
template <class Shape, class T, class How, class Over, class E>
auto make_total(const E& e) {
  return reduction<Shape, T, How, Over, E>({}, extents_from<Shape>(How::name, e.extents()), e);
}

// What names an element of several dimensions: the id of their product, which `split_ids` takes apart.
template <class... D>
struct id_over {
  using type = id<merged<D...>>;
};
template <class D>
struct id_over<D> {
  using type = id<D>;
};

}  // namespace detail

namespace no_adl {

/// exp(x) / Σ exp(x) over the dimensions D; exactly 0 where masked, and everywhere in a row that is masked entirely.
///
///   [D…, rest]  ->  [D…, rest], normalised<D…>
///
/// Refuses raw products (R6), what is normalised or has a static extent of 1 (R5), dimensions that are neither attendable
/// nor a choice (R13), masks that serve another dimension (R7), packed positions without documents (R19).
template <class... D, operand X,
          class Verdict =
              detail::of_scores<op::softmax, rule::softmax<op::softmax, detail::list<D...>, detail::shape_of<X>>, X>>
  requires(sizeof...(D) > 0 && allowed<Verdict>)
[[nodiscard]] auto softmax(const X& x) {
  return detail::make_rows<typename Verdict::shape, detail::rows::softmax, detail::list<D...>>(x);
}
template <class... D, operand X,
          class Verdict =
              detail::of_scores<op::softmax, rule::softmax<op::softmax, detail::list<D...>, detail::shape_of<X>>, X>>
  requires(sizeof...(D) > 0 && refused<Verdict>)
Verdict softmax(const X& x);

/// x − log Σ exp(x) over the dimensions D; −∞ where masked.
template <class... D, operand X,
          class Verdict = detail::of_scores<op::log_softmax,
                                            rule::softmax<op::log_softmax, detail::list<D...>, detail::shape_of<X>>, X>>
  requires(sizeof...(D) > 0 && allowed<Verdict>)
[[nodiscard]] auto log_softmax(const X& x) {
  return detail::make_rows<typename Verdict::shape, detail::rows::log_softmax, detail::list<D...>>(x);
}
template <class... D, operand X,
          class Verdict = detail::of_scores<op::log_softmax,
                                            rule::softmax<op::log_softmax, detail::list<D...>, detail::shape_of<X>>, X>>
  requires(sizeof...(D) > 0 && refused<Verdict>)
Verdict log_softmax(const X& x);

/// x / Σ x over the dimensions D, explicitly: slot attention's second normalisation, top-k routing. A row of sum 0 stays 0.
template <
    class... D, operand X,
    class Verdict = detail::of_numbers<op::renormalise, rule::renormalise<detail::list<D...>, detail::shape_of<X>>, X>>
  requires(sizeof...(D) > 0 && allowed<Verdict>)
[[nodiscard]] auto renormalise(const X& x) {
  return detail::make_rows<typename Verdict::shape, detail::rows::renormalise, detail::list<D...>>(x);
}
template <
    class... D, operand X,
    class Verdict = detail::of_numbers<op::renormalise, rule::renormalise<detail::list<D...>, detail::shape_of<X>>, X>>
  requires(sizeof...(D) > 0 && refused<Verdict>)
Verdict renormalise(const X& x);

/// Sums, means, maxima and minima over the dimensions D; what is masked does not count.
///
///   [D…, rest]  ->  [rest]
///
/// The mean over nothing visible is 0. Refuses weighted products over other dimensions than theirs (R5), masks that serve
/// another dimension (R7), packed positions without documents (R19).
template <
    class... D, operand X,
    class Verdict = detail::of_numbers<op::sum, rule::reduce<op::sum, detail::list<D...>, detail::shape_of<X>>, X>>
  requires(sizeof...(D) > 0 && allowed<Verdict>)
[[nodiscard]] auto sum(const X& x) {
  return detail::make_total<typename Verdict::shape, detail::value_of<X>, detail::totals::sum, detail::list<D...>>(x);
}
template <
    class... D, operand X,
    class Verdict = detail::of_numbers<op::sum, rule::reduce<op::sum, detail::list<D...>, detail::shape_of<X>>, X>>
  requires(sizeof...(D) > 0 && refused<Verdict>)
Verdict sum(const X& x);
template <
    class... D, operand X,
    class Verdict = detail::of_numbers<op::mean, rule::reduce<op::mean, detail::list<D...>, detail::shape_of<X>>, X>>
  requires(sizeof...(D) > 0 && allowed<Verdict>)
[[nodiscard]] auto mean(const X& x) {
  return detail::make_total<typename Verdict::shape, detail::value_of<X>, detail::totals::mean, detail::list<D...>>(x);
}
template <
    class... D, operand X,
    class Verdict = detail::of_numbers<op::mean, rule::reduce<op::mean, detail::list<D...>, detail::shape_of<X>>, X>>
  requires(sizeof...(D) > 0 && refused<Verdict>)
Verdict mean(const X& x);
template <
    class... D, operand X,
    class Verdict = detail::of_numbers<op::max, rule::reduce<op::max, detail::list<D...>, detail::shape_of<X>>, X>>
  requires(sizeof...(D) > 0 && allowed<Verdict>)
[[nodiscard]] auto max(const X& x) {
  return detail::make_total<typename Verdict::shape, detail::value_of<X>, detail::totals::max, detail::list<D...>>(x);
}
template <
    class... D, operand X,
    class Verdict = detail::of_numbers<op::max, rule::reduce<op::max, detail::list<D...>, detail::shape_of<X>>, X>>
  requires(sizeof...(D) > 0 && refused<Verdict>)
Verdict max(const X& x);
template <
    class... D, operand X,
    class Verdict = detail::of_numbers<op::min, rule::reduce<op::min, detail::list<D...>, detail::shape_of<X>>, X>>
  requires(sizeof...(D) > 0 && allowed<Verdict>)
[[nodiscard]] auto min(const X& x) {
  return detail::make_total<typename Verdict::shape, detail::value_of<X>, detail::totals::min, detail::list<D...>>(x);
}
template <
    class... D, operand X,
    class Verdict = detail::of_numbers<op::min, rule::reduce<op::min, detail::list<D...>, detail::shape_of<X>>, X>>
  requires(sizeof...(D) > 0 && refused<Verdict>)
Verdict min(const X& x);

/// The same over what a mask allows: `mean<seq>(x, padding<seq>(lengths))`.
template <class... D, operand X, mask M,
          class Verdict = detail::of_numbers<
              op::masked, rule::reduce_masked<op::sum, detail::list<D...>, detail::shape_of<X>, typename M::facts>, X>>
  requires(sizeof...(D) > 0 && allowed<Verdict>)
[[nodiscard]] auto sum(const X& x, const M& m) {
  return sum<D...>(masked(x, m));
}
template <class... D, operand X, mask M,
          class Verdict = detail::of_numbers<
              op::masked, rule::reduce_masked<op::sum, detail::list<D...>, detail::shape_of<X>, typename M::facts>, X>>
  requires(sizeof...(D) > 0 && refused<Verdict>)
Verdict sum(const X& x, const M& m);
template <class... D, operand X, mask M,
          class Verdict = detail::of_numbers<
              op::masked, rule::reduce_masked<op::mean, detail::list<D...>, detail::shape_of<X>, typename M::facts>, X>>
  requires(sizeof...(D) > 0 && allowed<Verdict>)
[[nodiscard]] auto mean(const X& x, const M& m) {
  return mean<D...>(masked(x, m));
}
template <class... D, operand X, mask M,
          class Verdict = detail::of_numbers<
              op::masked, rule::reduce_masked<op::mean, detail::list<D...>, detail::shape_of<X>, typename M::facts>, X>>
  requires(sizeof...(D) > 0 && refused<Verdict>)
Verdict mean(const X& x, const M& m);
template <class... D, operand X, mask M,
          class Verdict = detail::of_numbers<
              op::masked, rule::reduce_masked<op::max, detail::list<D...>, detail::shape_of<X>, typename M::facts>, X>>
  requires(sizeof...(D) > 0 && allowed<Verdict>)
[[nodiscard]] auto max(const X& x, const M& m) {
  return max<D...>(masked(x, m));
}
template <class... D, operand X, mask M,
          class Verdict = detail::of_numbers<
              op::masked, rule::reduce_masked<op::max, detail::list<D...>, detail::shape_of<X>, typename M::facts>, X>>
  requires(sizeof...(D) > 0 && refused<Verdict>)
Verdict max(const X& x, const M& m);
template <class... D, operand X, mask M,
          class Verdict = detail::of_numbers<
              op::masked, rule::reduce_masked<op::min, detail::list<D...>, detail::shape_of<X>, typename M::facts>, X>>
  requires(sizeof...(D) > 0 && allowed<Verdict>)
[[nodiscard]] auto min(const X& x, const M& m) {
  return min<D...>(masked(x, m));
}
template <class... D, operand X, mask M,
          class Verdict = detail::of_numbers<
              op::masked, rule::reduce_masked<op::min, detail::list<D...>, detail::shape_of<X>, typename M::facts>, X>>
  requires(sizeof...(D) > 0 && refused<Verdict>)
Verdict min(const X& x, const M& m);

/// log Σ exp(x) over the dimensions D; −∞ where everything is masked.
template <class... D, operand X,
          class Verdict =
              detail::of_scores<op::logsumexp, rule::reduce<op::logsumexp, detail::list<D...>, detail::shape_of<X>>, X>>
  requires(sizeof...(D) > 0 && allowed<Verdict>)
[[nodiscard]] auto logsumexp(const X& x) {
  return detail::make_total<typename Verdict::shape, detail::value_of<X>, detail::totals::logsumexp,
                            detail::list<D...>>(x);
}
template <class... D, operand X,
          class Verdict =
              detail::of_scores<op::logsumexp, rule::reduce<op::logsumexp, detail::list<D...>, detail::shape_of<X>>, X>>
  requires(sizeof...(D) > 0 && refused<Verdict>)
Verdict logsumexp(const X& x);

/// The id of the largest element along D, the first where several are; NaN counts as largest. Along several dimensions it
/// is the id of their product, in the order in which they are named: `split_ids` takes it apart.
///
///   argmax<D>:     [D, rest]     ->  [rest], elements id<D>
///   argmax<A, B>:  [A, B, rest]  ->  [rest], elements id<merged<A, B>>
template <class... D, operand X,
          class Verdict =
              detail::of_numbers<op::argmax, rule::reduce<op::argmax, detail::list<D...>, detail::shape_of<X>>, X>>
  requires(sizeof...(D) > 0 && allowed<Verdict>)
[[nodiscard]] auto argmax(const X& x) {
  return detail::make_total<typename Verdict::shape, typename detail::id_over<D...>::type, detail::totals::argmax,
                            detail::list<D...>>(x);
}
template <class... D, operand X,
          class Verdict =
              detail::of_numbers<op::argmax, rule::reduce<op::argmax, detail::list<D...>, detail::shape_of<X>>, X>>
  requires(sizeof...(D) > 0 && refused<Verdict>)
Verdict argmax(const X& x);

/// (x − mean) / √(variance + ε) over the dimensions D, any of them (batch norm, instance norm, …).
template <class... D, operand X,
          class Verdict = detail::of_numbers<op::standardize,
                                             rule::norm<op::standardize, detail::list<D...>, detail::shape_of<X>>, X>>
  requires(sizeof...(D) > 0 && allowed<Verdict>)
[[nodiscard]] auto standardize(const X& x, double epsilon = 1e-5) {
  return detail::make_rows<typename Verdict::shape, detail::rows::standardize, detail::list<D...>>(x, epsilon);
}
template <class... D, operand X,
          class Verdict = detail::of_numbers<op::standardize,
                                             rule::norm<op::standardize, detail::list<D...>, detail::shape_of<X>>, X>>
  requires(sizeof...(D) > 0 && refused<Verdict>)
Verdict standardize(const X& x, double epsilon = 1e-5);

/// standardize<D…>(x) · γ + β over features (Ba, Kiros and Hinton 2016); refuses other dimensions (R13).
///
///   [rest, D…] x [subset] x [subset]  ->  [rest, D…]
template <class... D, operand X,
          class Verdict = detail::of_numbers<op::layer_norm,
                                             rule::norm<op::layer_norm, detail::list<D...>, detail::shape_of<X>>, X>>
  requires(sizeof...(D) > 0 && allowed<Verdict>)
[[nodiscard]] auto layer_norm(const X& x, double epsilon = 1e-5) {
  return detail::make_rows<typename Verdict::shape, detail::rows::standardize, detail::list<D...>>(x, epsilon);
}
template <class... D, operand X, operand Gamma, operand Beta,
          class Verdict = detail::of_numbers<op::layer_norm,
                                             rule::norm_with<op::layer_norm, detail::list<D...>, detail::shape_of<X>,
                                                             detail::shape_of<Gamma>, detail::shape_of<Beta>>,
                                             X, Gamma, Beta>>
  requires(sizeof...(D) > 0 && allowed<Verdict>)
[[nodiscard]] auto layer_norm(const X& x, const Gamma& gamma, const Beta& beta, double epsilon = 1e-5) {
  return layer_norm<D...>(x, epsilon) * gamma + beta;
}
template <class... D, operand X,
          class Verdict = detail::of_numbers<op::layer_norm,
                                             rule::norm<op::layer_norm, detail::list<D...>, detail::shape_of<X>>, X>>
  requires(sizeof...(D) > 0 && refused<Verdict>)
Verdict layer_norm(const X& x, double epsilon = 1e-5);
template <class... D, operand X, operand Gamma, operand Beta,
          class Verdict = detail::of_numbers<op::layer_norm,
                                             rule::norm_with<op::layer_norm, detail::list<D...>, detail::shape_of<X>,
                                                             detail::shape_of<Gamma>, detail::shape_of<Beta>>,
                                             X, Gamma, Beta>>
  requires(sizeof...(D) > 0 && refused<Verdict>)
Verdict layer_norm(const X& x, const Gamma& gamma, const Beta& beta, double epsilon = 1e-5);

/// x / √(mean x² + ε) · γ over features (Zhang and Sennrich 2019); refuses other dimensions (R13).
template <class... D, operand X,
          class Verdict =
              detail::of_numbers<op::rms_norm, rule::norm<op::rms_norm, detail::list<D...>, detail::shape_of<X>>, X>>
  requires(sizeof...(D) > 0 && allowed<Verdict>)
[[nodiscard]] auto rms_norm(const X& x, double epsilon = 1e-5) {
  return detail::make_rows<typename Verdict::shape, detail::rows::root_mean_square, detail::list<D...>>(x, epsilon);
}
template <
    class... D, operand X, operand Gamma,
    class Verdict = detail::of_numbers<
        op::rms_norm, rule::norm_with<op::rms_norm, detail::list<D...>, detail::shape_of<X>, detail::shape_of<Gamma>>,
        X, Gamma>>
  requires(sizeof...(D) > 0 && allowed<Verdict>)
[[nodiscard]] auto rms_norm(const X& x, const Gamma& gamma, double epsilon = 1e-5) {
  return rms_norm<D...>(x, epsilon) * gamma;
}
template <class... D, operand X,
          class Verdict =
              detail::of_numbers<op::rms_norm, rule::norm<op::rms_norm, detail::list<D...>, detail::shape_of<X>>, X>>
  requires(sizeof...(D) > 0 && refused<Verdict>)
Verdict rms_norm(const X& x, double epsilon = 1e-5);
template <
    class... D, operand X, operand Gamma,
    class Verdict = detail::of_numbers<
        op::rms_norm, rule::norm_with<op::rms_norm, detail::list<D...>, detail::shape_of<X>, detail::shape_of<Gamma>>,
        X, Gamma>>
  requires(sizeof...(D) > 0 && refused<Verdict>)
Verdict rms_norm(const X& x, const Gamma& gamma, double epsilon = 1e-5);

/// Running sums along an ordered dimension, each element included (R13).
template <class D, operand X,
          class Verdict = detail::of_numbers<op::scan, rule::scan<detail::list<D>, detail::shape_of<X>>, X>>
  requires allowed<Verdict>
[[nodiscard]] auto scan(const X& x) {
  return detail::make_rows<typename Verdict::shape, detail::rows::scan, detail::list<D>>(x);
}
template <class D, operand X,
          class Verdict = detail::of_numbers<op::scan, rule::scan<detail::list<D>, detail::shape_of<X>>, X>>
  requires refused<Verdict>
Verdict scan(const X& x);

// Called without the dimension that they go over (R1).
#define DIMWISE_DETAIL_UNNAMED(name)                               \
  template <operand X, class Error = detail::unnamed<op::name, X>> \
  Error name(const X& x);
DIMWISE_DETAIL_UNNAMED(softmax)
DIMWISE_DETAIL_UNNAMED(log_softmax)
DIMWISE_DETAIL_UNNAMED(renormalise)
DIMWISE_DETAIL_UNNAMED(sum)
DIMWISE_DETAIL_UNNAMED(mean)
DIMWISE_DETAIL_UNNAMED(max)
DIMWISE_DETAIL_UNNAMED(min)
DIMWISE_DETAIL_UNNAMED(logsumexp)
DIMWISE_DETAIL_UNNAMED(argmax)
DIMWISE_DETAIL_UNNAMED(standardize)
DIMWISE_DETAIL_UNNAMED(layer_norm)
DIMWISE_DETAIL_UNNAMED(rms_norm)
DIMWISE_DETAIL_UNNAMED(scan)
#undef DIMWISE_DETAIL_UNNAMED

}  // namespace no_adl

}  // namespace dimwise

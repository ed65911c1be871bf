// SPDX-License-Identifier: BSL-1.0
// dimwise/expr/window.hpp -- unroll and pool: windows over an ordered dimension as a dimension of their own.
//
// Layer: expr. Nothing is copied: a window is another stride.
// Tests: tests/expr/window.test.cpp, tests/compile_fail/positions/
#pragma once

#include <dimwise/expr/restride.hpp>
#include <dimwise/shape/rules/positions.hpp>

namespace dimwise {

namespace detail {

namespace look {
template <class D, class W, class Result>
struct unroll {
  static constexpr const char* name = "unroll";
};
template <class D, class W, class Result>
struct pool {
  static constexpr const char* name = "pool";
};
}  // namespace look

template <class Verdict, class How, class D, class W, class Result, class X>
auto make_windows(const X& x, const W& window, extent_t count) {
  using shape = typename Verdict::shape;
  extents_of<list<W>> added;
  added.set(window);
  auto e =
      merge_extents<typename extents_for<shape>::atoms>(How::name, added, extents_beside<shape_of<X>, D>(x.extents()));
  slot made{count, unsaid_origin};
  if constexpr (std::is_same_v<D, Result>) { made.origin = x.extents().template of_atom<D>().origin; }
  make_extent<shape, Result>(e, made, How::name);
  if constexpr (Result::static_extent != at_run_time) {
    if (count != Result::static_extent) {
      raise<extent_error>(error{} << How::name << ": " << count << " windows do not fit dimension "
                                  << dimension_name<Result>() << " of extent " << Result::static_extent << " (R13)");
    }
  }
  return restride<shape, How, X>({}, e, x);
}

}  // namespace detail

namespace no_adl {

/// Every window of |W| neighbours along D: the operand of a convolution (Named Tensor Notation, section 3).
///
///   unroll<seq, kernel>(x):  [seq, rest]  ->  [seq, kernel, rest]      of n − |kernel| + 1 windows
///
/// A static D names its result: `unroll<seq, kernel, out_seq>(x)`. Throws `extent_error` where the window is longer
/// than D.
template <class D, class W, class Result = D, operand X,
          class Verdict = rule::unroll<D, W, Result, detail::shape_of<X>>>
  requires allowed<Verdict>
[[nodiscard]] auto unroll(const X& x, const W& window = W{}) {
  const extent_t n = x.extents().template extent<D>();
  if (window.extent() == 0 || window.extent() > n) {
    detail::raise<extent_error>(error{} << "unroll: a window of " << window.extent() << " does not fit dimension "
                                        << detail::dimension_name<D>() << " of extent " << n << " (R13)");
  }
  return detail::make_windows<Verdict, detail::look::unroll<D, W, Result>, D, W, Result>(x, window,
                                                                                         n - window.extent() + 1);
}
template <class D, class W, class Result = D, operand X,
          class Verdict = rule::unroll<D, W, Result, detail::shape_of<X>>>
  requires refused<Verdict>
Verdict unroll(const X& x, const W& window = W{});

/// Windows of |W| that do not overlap: `max<kernel>(pool<seq, kernel>(x))` is max-pooling.
///
///   pool<seq, kernel>(x):  [seq, rest]  ->  [seq, kernel, rest]        of n / |kernel| windows
///
/// Throws `extent_error` where |W| does not divide the extent of D.
template <class D, class W, class Result = D, operand X, class Verdict = rule::pool<D, W, Result, detail::shape_of<X>>>
  requires allowed<Verdict>
[[nodiscard]] auto pool(const X& x, const W& window = W{}) {
  const extent_t n = x.extents().template extent<D>();
  if (window.extent() == 0 || n % window.extent() != 0) {
    detail::raise<extent_error>(error{} << "pool: windows of " << window.extent() << " do not divide dimension "
                                        << detail::dimension_name<D>() << " of extent " << n << " (R4)");
  }
  return detail::make_windows<Verdict, detail::look::pool<D, W, Result>, D, W, Result>(x, window, n / window.extent());
}
template <class D, class W, class Result = D, operand X, class Verdict = rule::pool<D, W, Result, detail::shape_of<X>>>
  requires refused<Verdict>
Verdict pool(const X& x, const W& window = W{});

}  // namespace no_adl

}  // namespace dimwise

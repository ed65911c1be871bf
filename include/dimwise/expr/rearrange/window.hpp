// SPDX-License-Identifier: BSL-1.0
// dimwise/expr/rearrange/window.hpp -- unroll and pool: windows over an ordered dimension as a dimension of their own.
//
// Layer: expr. Nothing is copied: a window is another stride.
// Tests: tests/expr/masks/window.test.cpp, tests/compile_fail/positions/
#pragma once

#include <dimwise/expr/rearrange/restride.hpp>
#include <dimwise/shape/rules/positions.hpp>

namespace dimwise {

/// The distance between the first elements of neighbouring windows of `unroll`.
template <std::size_t By>
  requires(By > 0)
struct stride {};

namespace detail {

namespace views {
template <class D, class W, class Result>
struct unroll {
  static constexpr const char* name = "unroll";
};
template <class D, class W, class Result, std::size_t By>
struct unroll_by {
  static constexpr const char* name = "unroll";
};
template <class D, class W, class Result>
struct pool {
  static constexpr const char* name = "pool";
};
}  // namespace views

template <class Verdict, class How, class D, class W, class Result, bool Neighbours = true, class X>
auto make_windows(const X& x, const W& window, extent_t count) {
  using shape = typename Verdict::shape;
  auto e = extents_from<shape>(How::name, one_extent(window), extents_beside<shape_of<X>, D>(x.extents()));
  slot made{count, unknown_origin};
  // Windows with a stride are not neighbours: they have no positions.
  if constexpr (std::is_same_v<D, Result> && Neighbours) { made.origin = x.extents().template of_atom<D>().origin; }
  make_extent<shape, Result>(e, made, How::name);
  if constexpr (Result::static_extent != at_run_time) {
    if (count != Result::static_extent) {
      raise<extent_error>(error{} << How::name << ": " << count << " windows do not fit dimension "
                                  << dimension_name<Result>() << " of extent " << Result::static_extent << " (R13)");
    }
  }
  return restride<shape, How, X>({}, e, x);
}

// ---- the calls ------------------------------------------------------------------------------------------------------

namespace calls {

// The dimension that counts the windows: the third one that the call names, else D.
template <class D, class... N>
struct counted_along {
  using type = D;
};
template <class D, class W, class Result>
struct counted_along<D, W, Result> {
  using type = Result;
};
template <class D, class... N>
using result_t = typename counted_along<D, N...>::type;

// Lazy: clang 14 forms the verdict before it looks at what is required.
template <bool IsWindow, class D, class W, class Result, class Shape>
struct unrolled_by_one {};
template <class D, class W, class Result, class Shape>
struct unrolled_by_one<true, D, W, Result, Shape> {
  using type = rule::unroll<D, W, Result, Shape>;
};

struct unroll {
  template <class D, class... N, operand X, class W>
    requires begins<list<N...>, list<W, result_t<D, N...>>>
  static auto judge(list<D, N...>, const X&, const W&) ->
      typename unrolled_by_one<dimension_type<W>, D, W, result_t<D, N...>, shape_of<X>>::type;
  template <class D, class W, class... N, operand X>
    requires begins<list<N...>, list<result_t<D, W, N...>>>
  static auto judge(list<D, W, N...>, const X&)
      -> without_extent_t<op::unroll, W, rule::unroll<D, W, result_t<D, W, N...>, shape_of<X>>>;
  template <class D, class W, class... N, operand X, std::size_t By>
    requires begins<list<N...>, list<result_t<D, W, N...>>>
  static auto judge(list<D, W, N...>, const X&, stride<By>)
      -> without_extent_t<op::unroll, W, rule::unroll_by<D, W, result_t<D, W, N...>, By, shape_of<X>>>;
  template <class D, class... N, operand X, std::size_t By, class W>
    requires begins<list<N...>, list<W, result_t<D, N...>>>
  static auto judge(list<D, N...>, const X&, const W&, stride<By>)
      -> rule::unroll_by<D, W, result_t<D, N...>, By, shape_of<X>>;
  template <class Verdict, class D, class... N, operand X, class W = first_t<list<N...>>>
  static auto make(list<D, N...>, const X& x, const W& window = {}) {
    using result = result_t<D, N...>;
    return make_windows<Verdict, views::unroll<D, W, result>, D, W, result>(x, window, last_of<D>(x, window) + 1);
  }
  template <class Verdict, class D, class... N, operand X, std::size_t By, class W = first_t<list<N...>>>
  static auto make(list<D, N...> named, const X& x, stride<By> by) {
    return make<Verdict>(named, x, W{}, by);
  }
  template <class Verdict, class D, class... N, operand X, class W, std::size_t By>
  static auto make(list<D, N...>, const X& x, const W& window, stride<By>) {
    using result = result_t<D, N...>;
    return make_windows < Verdict, views::unroll_by<D, W, result, By>, D, W, result,
           By == 1 > (x, window, last_of<D>(x, window) / By + 1);
  }

 private:
  // Where the last window could begin.
  template <class D, class X, class W>
  static extent_t last_of(const X& x, const W& window) {
    const extent_t n = x.extents().template extent<D>();
    if (window.extent() == 0 || window.extent() > n) {
      raise<extent_error>(error{} << "unroll: a window of " << window.extent() << " does not fit dimension "
                                  << dimension_name<D>() << " of extent " << n << " (R13)");
    }
    return n - window.extent();
  }
};
struct pool {
  template <class D, class... N, operand X, class W>
    requires begins<list<N...>, list<W, result_t<D, N...>>>
  static auto judge(list<D, N...>, const X&, const W&) -> rule::pool<D, W, result_t<D, N...>, shape_of<X>>;
  template <class D, class W, class... N, operand X>
    requires begins<list<N...>, list<result_t<D, W, N...>>>
  static auto judge(list<D, W, N...>, const X&)
      -> without_extent_t<op::pool, W, rule::pool<D, W, result_t<D, W, N...>, shape_of<X>>>;
  template <class Verdict, class D, class... N, operand X, class W = first_t<list<N...>>>
  static auto make(list<D, N...>, const X& x, const W& window = {}) {
    using result = result_t<D, N...>;
    const extent_t n = x.extents().template extent<D>();
    if (window.extent() == 0 || n % window.extent() != 0) {
      raise<extent_error>(error{} << "pool: windows of " << window.extent() << " do not divide dimension "
                                  << dimension_name<D>() << " of extent " << n << " (R4)");
    }
    return make_windows<Verdict, views::pool<D, W, result>, D, W, result>(x, window, n / window.extent());
  }
};

}  // namespace calls

}  // namespace detail

namespace no_adl {

/// Every window of |W| neighbours along D: the operand of a convolution (Named Tensor Notation, section 3).
///
///   unroll<seq, kernel>(x):  [seq, rest]  ->  [seq, kernel, rest]      of n − |kernel| + 1 windows
///
///   unroll<seq, kernel>(x, stride<2>{}):  [seq, rest]  ->  [seq, kernel, rest]   of (n − |kernel|) / 2 + 1 windows
///
/// A static D names its result: `unroll<seq, kernel, out_seq>(x)`. A run-time window is given: `unroll<seq, kernel>(x,
/// kernel{3})`; a stride comes last. Throws `extent_error` where the window is longer than D.
DIMWISE_DETAIL_OPERATION(unroll)

/// Windows of |W| that do not overlap: `max<kernel>(pool<seq, kernel>(x))` is max-pooling.
///
///   pool<seq, kernel>(x):  [seq, rest]  ->  [seq, kernel, rest]        of n / |kernel| windows
///
/// Throws `extent_error` where |W| does not divide the extent of D.
DIMWISE_DETAIL_OPERATION(pool)

}  // namespace no_adl

}  // namespace dimwise

// SPDX-License-Identifier: BSL-1.0
// dimwise/expr/elements/functions.hpp -- the functions that go over elements, as types that the evaluator can
// recognise.
//
// Layer: expr. Each is a function object on one element type; the kernels have their own vectorized spelling of them.
// Tests: tests/expr/elements/elementwise.test.cpp
#pragma once

#include <dimwise/support/math.hpp>

#include <type_traits>
#include <utility>

namespace dimwise::fn {

#define DIMWISE_DETAIL_ARITHMETIC(word, symbol)  \
  struct word {                                  \
    static constexpr const char* name = #symbol; \
    template <class T>                           \
    constexpr T operator()(T a, T b) const {     \
      return a symbol b;                         \
    }                                            \
  };
DIMWISE_DETAIL_ARITHMETIC(add, +)
DIMWISE_DETAIL_ARITHMETIC(subtract, -)
DIMWISE_DETAIL_ARITHMETIC(multiply, *)
DIMWISE_DETAIL_ARITHMETIC(divide, /)
#undef DIMWISE_DETAIL_ARITHMETIC

// Whole numbers, as real ones.
template <class To>
struct as_real {
  static constexpr const char* name = "as real numbers";
  template <class T>
  constexpr To operator()(T a) const {
    return static_cast<To>(a);
  }
};
struct negate {
  static constexpr const char* name = "negate";
  template <class T>
  constexpr T operator()(T a) const {
    return -a;
  }
};
// Of these functions, NaN gives NaN, and an infinity the limit of the function there
// (docs/reference/special_values.md).

// max(0, x)
struct relu {
  static constexpr const char* name = "relu";
  template <class T>
  constexpr T operator()(T x) const {
    return x < T(0) ? T(0) : x;
  }
};
struct sigmoid {
  static constexpr const char* name = "sigmoid";
  template <class T>
  T operator()(T x) const {
    if (x < T(0)) {  // never exp of a large number
      const T e = detail::math::exp(x);
      return e / (T(1) + e);
    }
    return T(1) / (T(1) + detail::math::exp(-x));
  }
};

// log(1 + e^x): its logarithm is of e^−|x|, which never overflows.
struct softplus {
  static constexpr const char* name = "softplus";
  template <class T>
  T operator()(T x) const {
    const T rest = detail::math::log1p(detail::math::exp(-detail::math::fabs(x)));
    return x > T(0) ? x + rest : rest;
  }
};

// x · p for a p that falls to 0 faster than x grows: at −∞, where the product would be NaN, it is 0.
template <class T>
T times_vanishing(T x, T p) {
  return p == T(0) ? T(0) : x * p;
}

// x Φ(x), Hendrycks and Gimpel 2016; erfc, because 1 + erf has no correct digit left where Φ is small.
struct gelu {
  static constexpr const char* name = "gelu";
  template <class T>
  T operator()(T x) const {
    return times_vanishing(x, T(0.5) * detail::math::erfc(x * T(-0.70710678118654752440)));
  }
};
// The tanh approximation of gelu in the same paper; (1 + tanh u) / 2 is the sigmoid of 2u.
struct gelu_tanh {
  static constexpr const char* name = "gelu_tanh";
  template <class T>
  T operator()(T x) const {
    return times_vanishing(x, sigmoid{}(T(1.5957691216057307118) * (x + T(0.044715) * x * x * x)));
  }
};
// x σ(x), also called swish.
struct silu {
  static constexpr const char* name = "silu";
  template <class T>
  T operator()(T x) const {
    return times_vanishing(x, sigmoid{}(x));
  }
};
#define DIMWISE_DETAIL_FUNCTION(word)          \
  struct word {                                \
    static constexpr const char* name = #word; \
    template <class T>                         \
    T operator()(T x) const {                  \
      return detail::math::word(x);            \
    }                                          \
  };
DIMWISE_DETAIL_FUNCTION(exp)
DIMWISE_DETAIL_FUNCTION(log)
DIMWISE_DETAIL_FUNCTION(tanh)
DIMWISE_DETAIL_FUNCTION(erf)
DIMWISE_DETAIL_FUNCTION(sqrt)
DIMWISE_DETAIL_FUNCTION(sin)
DIMWISE_DETAIL_FUNCTION(cos)
#undef DIMWISE_DETAIL_FUNCTION

struct abs {
  static constexpr const char* name = "abs";
  template <class T>
  constexpr T operator()(T x) const {
    return x <= T(0) ? T(0) - x : x;
  }
};
struct square {
  static constexpr const char* name = "square";
  template <class T>
  constexpr T operator()(T x) const {
    return x * x;
  }
};

// The nearest number of 16 bits: `To` is bfloat16 or float16.
template <class To>
struct rounded {
  static constexpr const char* name = "rounded";
  template <class T>
  constexpr T operator()(T x) const {
    return static_cast<T>(static_cast<float>(static_cast<To>(static_cast<float>(x))));
  }
};

// x to the power of y, as std::pow.
struct pow {
  static constexpr const char* name = "pow";
  template <class T>
  T operator()(T x, T y) const {
    return detail::math::pow(x, y);
  }
};
// The larger and the smaller of two numbers, the first of equal ones; NaN where one is NaN.
struct larger {
  static constexpr const char* name = "max";
  template <class T>
  constexpr T operator()(T a, T b) const {
    return a != a ? a : (b != b || a < b ? b : a);
  }
};
struct smaller {
  static constexpr const char* name = "min";
  template <class T>
  constexpr T operator()(T a, T b) const {
    return a != a ? a : (b != b || b < a ? b : a);
  }
};
// The upper bound counts where the bounds cross.
struct clamp {
  static constexpr const char* name = "clamp";
  template <class T>
  constexpr T operator()(T x, T low, T high) const {
    return smaller{}(larger{}(x, low), high);
  }
};
// An element that is not chosen has no effect, even if it is NaN.
struct choose {
  static constexpr const char* name = "where";
  template <class A, class B>
  constexpr auto operator()(bool first, A a, B b) const {
    using T = typename std::conditional_t<std::is_same_v<A, B>, std::type_identity<A>, std::common_type<A, B>>::type;
    return first ? static_cast<T>(a) : static_cast<T>(b);
  }
};

// Comparisons. Whole numbers of different signs and sizes compare by value.
template <class A, class B>
inline constexpr bool compare_by_value = std::is_integral_v<A> && std::is_integral_v<B> && !std::is_same_v<A, B>;
struct less {
  static constexpr const char* name = "<";
  template <class A, class B>
  constexpr bool operator()(A a, B b) const {
    if constexpr (compare_by_value<A, B>) {
      return std::cmp_less(a, b);
    } else {
      return a < b;
    }
  }
};
struct less_equal {
  static constexpr const char* name = "<=";
  template <class A, class B>
  constexpr bool operator()(A a, B b) const {
    if constexpr (compare_by_value<A, B>) {
      return std::cmp_less_equal(a, b);
    } else {
      return a <= b;
    }
  }
};
struct greater {
  static constexpr const char* name = ">";
  template <class A, class B>
  constexpr bool operator()(A a, B b) const {
    return less{}(b, a);
  }
};
struct greater_equal {
  static constexpr const char* name = ">=";
  template <class A, class B>
  constexpr bool operator()(A a, B b) const {
    return less_equal{}(b, a);
  }
};
struct equal {
  static constexpr const char* name = "==";
  template <class A, class B>
  constexpr bool operator()(A a, B b) const {
    if constexpr (compare_by_value<A, B>) {
      return std::cmp_equal(a, b);
    } else {
      return a == b;
    }
  }
};
struct not_equal {
  static constexpr const char* name = "!=";
  template <class A, class B>
  constexpr bool operator()(A a, B b) const {
    return !equal{}(a, b);
  }
};

// A function of a user's own that says its derivatives: `derivative(x)` of one argument, `derivative<I>(x…)` by the
// I-th of several.
template <class F, std::size_t I, class... T>
concept says_derivative = (sizeof...(T) == 1 && requires(const F& f, T... x) { f.derivative(x...); }) ||
                          requires(const F& f, T... x) { f.template derivative<I>(x...); };

// Functions that give 0 for what is masked (−∞), so that a mask ends in them as it does in softmax.
template <class F>
inline constexpr bool ends_mask = false;
template <>
inline constexpr bool ends_mask<exp> = true;
template <>
inline constexpr bool ends_mask<sigmoid> = true;

}  // namespace dimwise::fn

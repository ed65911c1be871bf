// SPDX-License-Identifier: BSL-1.0
#include <dimwise/support/math.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <type_traits>

namespace math = dimwise::detail::math;

namespace {

// The same type and value, the sign of zero included, as the functions of <cmath>.
template <class T>
void check_functions() {
  const T none = std::numeric_limits<T>::quiet_NaN();
  const T infinite = std::numeric_limits<T>::infinity();
  for (const T x : {T(-2.5), T(-0.0), T(0), T(0.75), T(3), infinite, -infinite, none}) {
    const auto same = [&](auto ours, auto theirs) {
      static_assert(std::is_same_v<decltype(ours), T> && std::is_same_v<decltype(theirs), T>);
      CHECK(
          ((ours == theirs && std::signbit(ours) == std::signbit(theirs)) || (std::isnan(ours) && std::isnan(theirs))));
    };
    CAPTURE(x);
#define SAME(name) same(math::name(x), std::name(x))
    SAME(cos);
    SAME(erf);
    SAME(erfc);
    SAME(exp);
    SAME(exp2);
    SAME(fabs);
    SAME(log);
    SAME(log1p);
    SAME(nearbyint);
    SAME(round);
    SAME(sin);
    SAME(sqrt);
    SAME(tanh);
#undef SAME
    same(math::pow(x, T(3)), std::pow(x, T(3)));
    same(math::ldexp(x, 5), std::ldexp(x, 5));
    CHECK(math::signbit(x) == std::signbit(x));
  }
  CHECK(math::isnan(none));
  CHECK(!math::isnan(infinite));
  CHECK(math::isfinite(T(1)));
  CHECK(!math::isfinite(infinite));
  CHECK(math::isnormal(T(1)));
  CHECK(!math::isnormal(std::numeric_limits<T>::denorm_min()));
}

}  // namespace

TEST_CASE("functions of numbers are those of <cmath>") {
  check_functions<float>();
  check_functions<double>();
  check_functions<long double>();
}

TEST_CASE("functions of whole numbers are computed in double") {
  static_assert(std::is_same_v<decltype(math::sqrt(2)), double>);
  CHECK(math::sqrt(2) == std::sqrt(2.0));
  CHECK(math::pow(3, 4) == 81.0);
}

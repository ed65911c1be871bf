// SPDX-License-Identifier: BSL-1.0
// Functions of real numbers and atomic values without the standard headers: equal to the standard's, bit for bit.
#include <dimwise/support/builtins/atomic.hpp>
#include <dimwise/support/builtins/real_functions.hpp>

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace {

namespace own = dimwise::detail_math;

template <class T>
constexpr T some[] = {T(0),
                      T(-0.0),
                      T(0.3),
                      T(-0.7),
                      T(2.5),
                      T(-3.5),
                      T(700),
                      std::numeric_limits<T>::denorm_min(),
                      std::numeric_limits<T>::max(),
                      std::numeric_limits<T>::infinity(),
                      -std::numeric_limits<T>::infinity(),
                      std::numeric_limits<T>::quiet_NaN()};

template <class T>
bool same(T a, T b) {
  using bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  return (std::isnan(a) && std::isnan(b)) || std::bit_cast<bits>(a) == std::bit_cast<bits>(b);
}

}  // namespace

TEST_CASE_TEMPLATE("functions of real numbers are those of <cmath>", T, float, double) {
  for (const T x : some<T>) {
    CAPTURE(x);
    CHECK(same<T>(own::sqrt(x), std::sqrt(x)));
    CHECK(same<T>(own::exp(x), std::exp(x)));
    CHECK(same<T>(own::exp2(x), std::exp2(x)));
    CHECK(same<T>(own::log(x), std::log(x)));
    CHECK(same<T>(own::log1p(x), std::log1p(x)));
    CHECK(same<T>(own::sin(x), std::sin(x)));
    CHECK(same<T>(own::cos(x), std::cos(x)));
    CHECK(same<T>(own::tanh(x), std::tanh(x)));
    CHECK(same<T>(own::erf(x), std::erf(x)));
    CHECK(same<T>(own::erfc(x), std::erfc(x)));
    CHECK(same<T>(own::fabs(x), std::fabs(x)));
    CHECK(same<T>(own::round(x), std::round(x)));
    CHECK(same<T>(own::nearbyint(x), std::nearbyint(x)));
    CHECK(same<T>(own::ldexp(x, 3), std::ldexp(x, 3)));
    CHECK(own::isnan(x) == std::isnan(x));
    CHECK(own::isfinite(x) == std::isfinite(x));
    CHECK(own::isnormal(x) == std::isnormal(x));
    CHECK(own::signbit(x) == std::signbit(x));
    for (const T y : some<T>) {
      CAPTURE(y);
      CHECK(same<T>(own::pow(x, y), std::pow(x, y)));
      CHECK(same<T>(own::hypot(x, y), std::hypot(x, y)));
    }
  }
}

TEST_CASE("an atomic value returns the value before, and replaces only the expected one") {
  dimwise::detail::atomic_value<long> x(5);
  CHECK(x.add_relaxed(2) == 5);
  CHECK(x.subtract_acquire_release(3) == 7);
  CHECK(x.exchange_acquire_release(9) == 4);
  long expected = 8;
  CHECK_FALSE(x.replace_acquire_release(expected, 1));
  CHECK(expected == 9);
  CHECK(x.replace_acquire_release(expected, 1));
  CHECK(x.load_acquire() == 1);
  x.store_relaxed(3);
  CHECK(x.load_relaxed() == 3);
}

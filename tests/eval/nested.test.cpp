// tests/eval/nested.test.cpp -- a hundred operations in one expression.
// SPDX-License-Identifier: BSL-1.0
#include "support/dims.hpp"

#include <doctest/doctest.h>

namespace {

using namespace dims;
using dimwise::tensor;

template <int Count, class X>
auto nested(const X& x) {
  if constexpr (Count == 0) {
    return x;
  } else if constexpr (Count % 4 == 0) {
    return nested<Count - 1>(x * 1.5F);
  } else if constexpr (Count % 4 == 1) {
    return nested<Count - 1>(abs(x));
  } else if constexpr (Count % 4 == 2) {
    return nested<Count - 1>(x / 1.5F);
  } else {
    return nested<Count - 1>(x + 1.0F);
  }
}

}  // namespace

TEST_CASE("a hundred nested operations are evaluated") {
  tensor<float, seq, d_k> x(seq{3});
  x.fill(2);
  const tensor y = nested<100>(x);
  double expected = 2;
  for (int i = 0; i < 25; ++i) { expected = (expected * 1.5 + 1) / 1.5; }
  for (const float value : y.values()) { CHECK(value == doctest::Approx(expected).epsilon(1e-5)); }
}

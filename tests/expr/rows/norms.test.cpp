// tests/expr/rows/norms.test.cpp -- standardize, layer_norm, rms_norm (reduce.hpp).
//
// SPDX-License-Identifier: BSL-1.0
#include "support/dims.hpp"
#include "support/numbers.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace {

using namespace dims;
using namespace dimwise_test;
using dimwise::layer_norm;
using dimwise::rms_norm;
using dimwise::standardize;
using dimwise::tensor;

// (x − mean) / √(variance + ε) of element i of a row of n.
template <class F>
double standardized(std::size_t n, F x, std::size_t i, double epsilon) {
  const double mean = sum_of(n, x) / static_cast<double>(n);
  const double variance = sum_of(n, [&](auto j) { return (x(j) - mean) * (x(j) - mean); }) / static_cast<double>(n);
  return (x(i) - mean) / std::sqrt(variance + epsilon);
}

// Sums of n numbers near 1, their differences, and a division by a deviation of about 0.5.
constexpr double roundings = 60;

}  // namespace

TEST_CASE("layer_norm: over features, with and without gain and bias") {
  for (const std::size_t s : counts{0, 1, 3}) {
    const auto x = drawn<tensor<float, batch, seq, d_model>>(1, batch{2}, seq{s});
    const auto gamma = drawn<tensor<float, d_model>>(2);
    const auto beta = drawn<tensor<float, d_model>>(3);
    const auto expected = [&](auto b, auto p, auto m, double epsilon) {
      return standardized(12, [&](auto j) { return double{el(x, b, p, j)}; }, m, epsilon);
    };
    CHECK(agrees(layer_norm<d_model>(x), {2, s, 12}, roundings,
                 [&](auto b, auto p, auto m) { return expected(b, p, m, 1e-5); }) == "");
    CHECK(agrees(layer_norm<d_model>(x, 0.25), {2, s, 12}, roundings,
                 [&](auto b, auto p, auto m) { return expected(b, p, m, 0.25); }) == "");
    CHECK(agrees(layer_norm<d_model>(x, gamma, beta), {2, s, 12}, roundings,
                 [&](auto b, auto p, auto m) { return expected(b, p, m, 1e-5) * el(gamma, m) + el(beta, m); }) == "");
    CHECK(agrees(layer_norm<d_model>(x, gamma, beta, 0.5), {2, s, 12}, roundings,
                 [&](auto b, auto p, auto m) { return expected(b, p, m, 0.5) * el(gamma, m) + el(beta, m); }) == "");
    CHECK(agrees(layer_norm<d_model>(scattered(x).view()), {2, s, 12}, roundings,
                 [&](auto b, auto p, auto m) { return expected(b, p, m, 1e-5); }) == "");
    const tensor<float, d_model, seq, batch> turned = x;
    CHECK(agrees(layer_norm<d_model>(turned, gamma, beta), {12, s, 2}, roundings,
                 [&](auto m, auto p, auto b) { return expected(b, p, m, 1e-5) * el(gamma, m) + el(beta, m); }) == "");
  }
}

TEST_CASE("rms_norm: over features, with and without gain") {
  const auto x = drawn<tensor<float, seq, d_model>>(4, seq{3});
  const auto gamma = drawn<tensor<float, d_model>>(5);
  const auto expected = [&](auto s, auto m, double epsilon) {
    return el(x, s, m) /
           std::sqrt(sum_of(12, [&](auto j) { return double{el(x, s, j)} * el(x, s, j); }) / 12 + epsilon);
  };
  CHECK(agrees(rms_norm<d_model>(x), {3, 12}, roundings, [&](auto s, auto m) { return expected(s, m, 1e-5); }) == "");
  CHECK(agrees(rms_norm<d_model>(x, gamma), {3, 12}, roundings,
               [&](auto s, auto m) { return expected(s, m, 1e-5) * el(gamma, m); }) == "");
  CHECK(agrees(rms_norm<d_model>(x, gamma, 0.5), {3, 12}, roundings,
               [&](auto s, auto m) { return expected(s, m, 0.5) * el(gamma, m); }) == "");
}

TEST_CASE("standardize: over any dimensions, several together") {
  const auto x = drawn<tensor<float, batch, seq, d_k>>(6, batch{3}, seq{5});
  CHECK(agrees(standardize<batch, seq>(x), {3, 5, 4}, roundings, [&](auto b, auto s, auto d) {  // batch norm
    return standardized(15, [&](auto j) { return double{el(x, j / 5, j % 5, d)}; }, b * 5 + s, 1e-5);
  }) == "");
  CHECK(agrees(standardize<d_k, seq>(x, 1e-3), {3, 5, 4}, roundings, [&](auto b, auto s, auto d) {
    return standardized(20, [&](auto j) { return double{el(x, b, j / 4, j % 4)}; }, s * 4 + d, 1e-3);
  }) == "");
}

TEST_CASE("norms: a large offset does not destroy the variance; equal elements give 0; NaN stays in its row") {
  auto x = drawn<tensor<float, seq, d_model>>(7, seq{1});
  const tensor<float, seq, d_model> far = x + 1000.0F;
  // The offset leaves 2^-14 of each element in float32, and two passes lose no more.
  CHECK(differences(tensor<float, seq, d_model>(layer_norm<d_model>(far)), {1, 12}, 4 * std::ldexp(1.0, -14),
                    [&](auto s, auto m) {
    return standardized(12, [&](auto j) { return double{el(far, s, j)}; }, m, 1e-5);
  }) == "");
  x.fill(3);
  CHECK(agrees(layer_norm<d_model>(x), {1, 12}, 0, [](auto, auto) { return 0.0; }) == "");
  tensor<float, seq, d_model> rows(seq{2});
  rows.set(not_a_number, dimwise::id<seq>(0), dimwise::id<d_model>(5));
  CHECK(agrees(layer_norm<d_model>(rows), {2, 12}, 0,
               [](auto s, auto) { return s == 0 ? double{not_a_number} : 0.0; }) == "");
  CHECK(agrees(rms_norm<d_model>(rows), {2, 12}, 0, [](auto s, auto) { return s == 0 ? double{not_a_number} : 0.0; }) ==
        "");
}

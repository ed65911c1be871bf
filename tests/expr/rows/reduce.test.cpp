// tests/expr/rows/reduce.test.cpp -- sums, means, maxima, minima, products, argmax, cumsum, cumprod.
//
// SPDX-License-Identifier: BSL-1.0
#include "support/dims.hpp"
#include "support/numbers.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace {

using namespace dims;
using namespace dimwise_test;
using dimwise::argmax;
using dimwise::cumprod;
using dimwise::cumsum;
using dimwise::id;
using dimwise::max;
using dimwise::mean;
using dimwise::min;
using dimwise::norm;
using dimwise::prod;
using dimwise::sum;
using dimwise::tensor;

}  // namespace

TEST_CASE("reductions: over one dimension, at every place in memory") {
  for (const std::size_t b : counts{0, 1, 2}) {
    for (const std::size_t n : counts{1, 2, 7}) {
      const auto x = drawn<tensor<float, batch, seq, d_k>>(1, batch{b}, seq{n});
      const auto total = [&](auto i, auto d) { return sum_of(n, [&](auto s) { return double{el(x, i, s, d)}; }); };
      const auto extreme = [&](auto i, auto d, auto better) {
        double best = el(x, i, 0, d);
        for (std::size_t s = 1; s < n; ++s) { best = better(best, double{el(x, i, s, d)}); }
        return best;
      };
      const auto largest = [&](auto i, auto d) {
        return extreme(i, d, [](double p, double q) { return std::fmax(p, q); });
      };
      const auto least = [&](auto i, auto d) {
        return extreme(i, d, [](double p, double q) { return std::fmin(p, q); });
      };
      const double roundings = static_cast<double>(n);
      CHECK(agrees(sum<seq>(x), {b, 4}, roundings, total) == "");
      CHECK(agrees(mean<seq>(x), {b, 4}, roundings + 1,
                   [&](auto i, auto d) { return total(i, d) / static_cast<double>(n); }) == "");
      CHECK(agrees(max<seq>(x), {b, 4}, 0, largest) == "");
      CHECK(agrees(min<seq>(x), {b, 4}, 0, least) == "");
      const tensor<float, seq, d_k, batch> turned = x;
      CHECK(agrees(sum<seq>(turned), {4, b}, roundings, [&](auto d, auto i) { return total(i, d); }) == "");
      CHECK(agrees(max<seq>(scattered(x).view()), {b, 4}, 0, largest) == "");
    }
  }
}

TEST_CASE("reductions: over several dimensions, in any order of naming, and over all") {
  const auto x = drawn<tensor<float, batch, seq, heads, d_k>>(2, batch{2}, seq{5});
  const auto total = [&](auto b, auto h) {
    return sum_of(5, [&](auto s) { return sum_of(4, [&](auto d) { return double{el(x, b, s, h, d)}; }); });
  };
  CHECK(agrees(sum<seq, d_k>(x), {2, 3}, 20, total) == "");
  CHECK(agrees(sum<d_k, seq>(x), {2, 3}, 20, total) == "");
  CHECK(agrees(mean<d_k, seq>(x), {2, 3}, 21, [&](auto b, auto h) { return total(b, h) / 20; }) == "");
  const tensor<float> all = sum<heads, seq, d_k, batch>(x);
  CHECK(within(*all.values().data(), sum_of(2, [&](auto b) { return sum_of(3, [&](auto h) { return total(b, h); }); }),
               float32(120)));
}

TEST_CASE("reductions: nothing to reduce gives their neutral element") {
  const tensor<float, seq, key> x(seq{2}, key{0});
  CHECK(agrees(sum<key>(x), {2}, 0, [](auto) { return 0.0; }) == "");
  CHECK(agrees(max<key>(x), {2}, 0, [](auto) { return -infinite; }) == "");
  CHECK(agrees(min<key>(x), {2}, 0, [](auto) { return infinite; }) == "");
}

TEST_CASE("reductions: NaN and infinities") {
  const tensor<float, seq, key> x({1, not_a_number, 2, infinite, 0, 1, -infinite, 5, 6}, seq{3}, key{3});
  const auto rows = [](double a, double b, double c) { return [=](auto s) { return s == 0 ? a : s == 1 ? b : c; }; };
  CHECK(agrees(sum<key>(x), {3}, 0, rows(not_a_number, infinite, -infinite)) == "");
  CHECK(agrees(mean<key>(x), {3}, 0, rows(not_a_number, infinite, -infinite)) == "");
  CHECK(agrees(max<key>(x), {3}, 0, rows(not_a_number, infinite, 6)) == "");
  CHECK(agrees(min<key>(x), {3}, 0, rows(not_a_number, 0, -infinite)) == "");
}

TEST_CASE("argmax: the first of equals, NaN largest, ids that index their dimension only") {
  const tensor<float, seq, vocab> x({0,
                                     2,
                                     1,
                                     2,
                                     /**/ -5,
                                     -1,
                                     -1,
                                     -2,
                                     /**/ 3,
                                     not_a_number,
                                     4,
                                     not_a_number,
                                     /**/ -infinite,
                                     -infinite,
                                     -infinite,
                                     -infinite,
                                     /**/ 1,
                                     1,
                                     infinite,
                                     infinite},
                                    seq{5}, vocab{4});
  const tensor<id<vocab>, seq> best = argmax<vocab>(x);
  const std::size_t expected[] = {1, 1, 1, 0, 2};
  CHECK(differences(best, {5}, 0, [&](auto s) { return expected[s]; }) == "");
  const tensor<float, vocab, seq> turned = x;
  const tensor<id<vocab>, seq> again = argmax<vocab>(turned);
  CHECK(differences(again, {5}, 0, [&](auto s) { return expected[s]; }) == "");
  const auto along = drawn<tensor<double, seq, vocab, batch>>(3, seq{6}, vocab{3}, batch{2});
  const tensor<id<seq>, vocab, batch> latest = argmax<seq>(along);
  CHECK(differences(latest, {3, 2}, 0, [&](auto v, auto b) {
    std::size_t at = 0;
    for (std::size_t s = 1; s < 6; ++s) { at = el(along, s, v, b) > el(along, at, v, b) ? s : at; }
    return at;
  }) == "");
}

namespace {

// The Euclidean norm of the numbers that `of` gives, in double, which holds the squares of all floats.
template <class Of>
double length(std::size_t n, const Of& of) {
  return std::sqrt(sum_of(n, [&](auto i) { return double{of(i)} * double{of(i)}; }));
}

}  // namespace

TEST_CASE("norm: over one dimension and several, at every place in memory") {
  for (const std::size_t n : counts{1, 7, 16, 40, 300}) {
    CAPTURE(n);
    const auto x = drawn<tensor<float, batch, seq, d_k>>(21, batch{3}, seq{n});
    const double roundings = static_cast<double>(n) + 4;
    const auto along = [&](auto b, auto d) { return length(n, [&](auto s) { return el(x, b, s, d); }); };
    CHECK(agrees(norm<seq>(x), {3, 4}, roundings, along) == "");
    const tensor<float, d_k, batch, seq> turned = x;
    CHECK(agrees(norm<seq>(turned), {4, 3}, roundings, [&](auto d, auto b) { return along(b, d); }) == "");
    CHECK(agrees(norm<seq>(scattered(x).view()), {3, 4}, roundings, along) == "");
    CHECK(agrees(norm<d_k, seq>(x), {3}, 4 * roundings, [&](auto b) {
      return std::sqrt(sum_of(4, [&](auto d) { return along(b, d) * along(b, d); }));
    }) == "");
    CHECK(agrees(norm<batch, d_k>(x), {n}, 20,
                 [&](auto s) { return length(12, [&](auto i) { return el(x, i / 4, s, i % 4); }); }) == "");
  }
}

TEST_CASE("norm: squares that overflow or vanish, in float and double, by kernel and by loop") {
  for (const std::size_t n : counts{1, 5, 16, 67, 2500}) {
    for (const float scale : {1e-45F, 1e-42F, 1e-30F, 1e-20F, 1e-15F, 1.0F, 1e15F, 1e19F, 1e30F, 3e36F}) {
      CAPTURE(n);
      CAPTURE(scale);
      const std::size_t keys = n < 70 ? 19 : 3;
      const tensor<float, batch, seq, key> x =
          drawn<tensor<float, batch, seq, key>>(22, batch{2}, seq{n}, key{keys}) * scale;
      const auto down = [&](auto b, auto k) { return length(n, [&](auto s) { return el(x, b, s, k); }); };
      const tensor<float, batch, key, seq> turned = x;
      const tensor down_columns = norm<seq>(x);
      const tensor along_rows = norm<seq>(turned);
      const tensor by_loops = dimwise::evaluate_plainly(norm<seq>(x));
      for (std::size_t b = 0; b < 2; ++b) {
        for (std::size_t k = 0; k < keys; ++k) {
          // Half of the smallest number more, where a norm has few bits.
          const double allowed = down(b, k) * (static_cast<double>(n) + 8) * 6e-8 + 1e-45;
          CHECK(std::abs(el(down_columns, b, k) - down(b, k)) <= allowed);
          CHECK(std::abs(el(along_rows, b, k) - down(b, k)) <= allowed);
          CHECK(std::abs(el(by_loops, b, k) - down(b, k)) <= allowed);
        }
      }
    }
  }
  const tensor<double, seq, key> large({3e300, 4e300, 3e-320, 4e-320}, seq{2}, key{2});
  const tensor of_doubles = norm<key>(large);
  CHECK(std::abs(el(of_doubles, 0) / 5e300 - 1) < 1e-15);
  CHECK(std::abs(el(of_doubles, 1) / 5e-320 - 1) < 1e-3);
  const tensor<float, key> one({3e38F, 3e38F}, key{2});
  CHECK(el(tensor(norm<key>(one))) == infinite);  // beyond the largest number
}

TEST_CASE("norm: NaN, infinities, nothing") {
  for (const std::size_t n : counts{3, 40}) {
    tensor<float, seq, key> x(seq{4}, key{n});
    for (std::size_t s = 0; s < 3; ++s) {
      for (std::size_t k = 0; k < n; ++k) { x.set(1e30F, id<seq>(s), id<key>(k)); }
    }
    x.set(-infinite, id<seq>(1), id<key>(1));
    x.set(not_a_number, id<seq>(2), id<key>(0));
    x.set(infinite, id<seq>(2), id<key>(2));
    const tensor<float, key, seq> turned = x;
    const auto rows = [&](auto s) {
      return s == 0 ? 1e30F * std::sqrt(double(n)) : s == 1 ? infinite : s == 2 ? not_a_number : 0.0;
    };
    CHECK(agrees(norm<key>(x), {4}, static_cast<double>(n), rows) == "");
    CHECK(agrees(norm<key>(turned), {4}, static_cast<double>(n), rows) == "");
  }
  CHECK(agrees(norm<key>(tensor<float, seq, key>(seq{2}, key{0})), {2}, 0, [](auto) { return 0.0; }) == "");
}

TEST_CASE("norm: of what a mask allows") {
  const auto x = drawn<tensor<float, batch, seq, d_k>>(23, batch{3}, seq{5});
  const tensor<int, batch> lengths({5, 2, 0}, batch{3});
  const auto visible = [&](auto b, auto d) {
    return length(static_cast<std::size_t>(el(lengths, b)), [&](auto s) { return el(x, b, s, d); });
  };
  CHECK(agrees(norm<seq>(x, dimwise::padding<seq>(lengths)), {3, 4}, 8, visible) == "");
  CHECK(agrees(norm<seq>(dimwise::masked(x, dimwise::padding<seq>(lengths))), {3, 4}, 8, visible) == "");
}

TEST_CASE("reductions: dimensions that only the mask has, kept and reduced") {
  const auto x = drawn<tensor<float, seq, key>>(37, seq{2}, key{3});
  const tensor<bool, batch, seq, key> visible(
      {true, true, false, true, true, true, false, false, true, true, false, false}, batch{2}, seq{2}, key{3});
  const auto s = dimwise::masked(x, dimwise::allow(visible));
  const auto summed = [&](auto b, auto q) {
    return sum_of(3, [&](auto k) { return el(visible, b, q, k) ? double{el(x, q, k)} : 0.0; });
  };
  CHECK(agrees(sum<key>(s), {2, 2}, 3, [&](auto q, auto b) { return summed(b, q); }) == "");
  CHECK(agrees(sum<batch, key>(s), {2}, 6, [&](auto q) { return summed(0, q) + summed(1, q); }) == "");
  CHECK(agrees(max<key>(s), {2, 2}, 0, [&](auto q, auto b) {
    double most = -std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < 3; ++k) {
      if (el(visible, b, q, k)) { most = std::max(most, double{el(x, q, k)}); }
    }
    return most;
  }) == "");
}

TEST_CASE("prod: over one dimension and several, at every place in memory, of what a mask allows") {
  const auto product_of = [](std::size_t n, const auto& of) {
    double product = 1;
    for (std::size_t i = 0; i < n; ++i) { product *= of(i); }
    return product;
  };
  for (const std::size_t n : counts{0, 1, 7, 40}) {
    CAPTURE(n);
    const auto x = drawn<tensor<float, batch, seq, d_k>>(31, batch{3}, seq{n});
    const auto along = [&](auto b, auto d) { return product_of(n, [&](auto s) { return double{el(x, b, s, d)}; }); };
    const double roundings = static_cast<double>(n);
    CHECK(agrees(prod<seq>(x), {3, 4}, roundings, along) == "");
    CHECK(agrees(prod<seq>(scattered(x).view()), {3, 4}, roundings, along) == "");
    CHECK(agrees(prod<d_k, seq>(x), {3}, 4 * roundings + 1,
                 [&](auto b) { return product_of(4, [&](auto d) { return along(b, d); }); }) == "");
  }
  const tensor<double, batch, key> x({2, -3, 4, 5}, batch{2}, key{2});
  CHECK(agrees(prod<key>(x), {2}, 0, [](auto b) { return b == 0 ? -6.0 : 20.0; }) == "");  // np.prod(x, axis=-1)
  const tensor<int, batch> lengths({1, 0}, batch{2});
  CHECK(agrees(prod<key>(x, dimwise::padding<key>(lengths)), {2}, 0, [](auto b) { return b == 0 ? 2.0 : 1.0; }) == "");
  CHECK(agrees(prod<key>(dimwise::masked(x, dimwise::padding<key>(lengths))), {2}, 0,
               [](auto b) { return b == 0 ? 2.0 : 1.0; }) == "");
  const tensor<int, key> whole({7, -6}, key{2});
  CHECK(el(tensor(prod<key>(whole))) == -42);
}

TEST_CASE("prod: NaN, infinities, zeros") {
  const tensor<float, seq, key> x({2, not_a_number, infinite, -3, infinite, 0, 0, -5}, seq{4}, key{2});
  const double expected[] = {not_a_number, -infinite, not_a_number, 0};  // np.prod(x, axis=-1)
  CHECK(agrees(prod<key>(x), {4}, 0, [&](auto s) { return expected[s]; }) == "");
}

TEST_CASE("argmax: an empty dimension has no largest element, an empty result needs none") {
  CHECK(thrown<dimwise::index_error>([] {
    (void)dimwise::evaluate(argmax<vocab>(tensor<float, seq, vocab>(seq{2}, vocab{0})));
  }).starts_with("argmax: "));
  CHECK(dimwise::evaluate(argmax<vocab>(tensor<float, seq, vocab>(seq{0}, vocab{3}))).size() == 0);
}

TEST_CASE("cumsum: running sums, along any place in memory") {
  for (const std::size_t n : counts{0, 1, 6}) {
    const auto x = drawn<tensor<float, batch, seq, d_k>>(4, batch{2}, seq{n});
    const auto expected = [&](auto b, auto s, auto d) {
      return sum_of(s + 1, [&](auto i) { return double{el(x, b, i, d)}; });
    };
    CHECK(agrees(cumsum<seq>(x), {2, n, 4}, 6, expected) == "");
    CHECK(agrees(cumsum<seq>(scattered(x).view()), {2, n, 4}, 6, expected) == "");
  }
}

TEST_CASE("cumprod: cumulative products, along any place in memory") {
  for (const std::size_t n : counts{0, 1, 6}) {
    const auto x = drawn<tensor<float, batch, seq, d_k>>(5, batch{2}, seq{n});
    const auto expected = [&](auto b, auto s, auto d) {
      double product = 1;
      for (std::size_t i = 0; i <= s; ++i) { product *= double{el(x, b, i, d)}; }
      return product;
    };
    CHECK(agrees(cumprod<seq>(x), {2, n, 4}, 6, expected) == "");
    CHECK(agrees(cumprod<seq>(scattered(x).view()), {2, n, 4}, 6, expected) == "");
  }
}

TEST_CASE("cumsum and cumprod: known numbers, whole numbers, NaN, infinities, zeros") {
  // np.cumsum([1, 2.5, -4, 8]), np.cumprod([1, 2.5, -4, 8])
  const tensor<double, seq> x({1, 2.5, -4, 8}, seq{4});
  const double sums[] = {1, 3.5, -0.5, 7.5};
  const double products[] = {1, 2.5, -10, -80};
  CHECK(agrees(cumsum<seq>(x), {4}, 0, [&](auto s) { return sums[s]; }) == "");
  CHECK(agrees(cumprod<seq>(x), {4}, 0, [&](auto s) { return products[s]; }) == "");
  const tensor<int, seq> whole({3, -2, 5}, seq{3});
  const double of_whole[] = {3, -6, -30};
  CHECK(differences(dimwise::evaluate(cumprod<seq>(whole)), {3}, 0, [&](auto s) { return of_whole[s]; }) == "");
  // np.cumsum([2, inf, 1, -inf, 1]), np.cumprod([2, -inf, 1, 0, 1])
  const tensor<float, seq> ends({2, infinite, 1, -infinite, 1}, seq{5});
  const double sums_of_ends[] = {2, infinite, infinite, not_a_number, not_a_number};
  CHECK(agrees(cumsum<seq>(ends), {5}, 0, [&](auto s) { return sums_of_ends[s]; }) == "");
  const tensor<float, seq> beside_zero({2, -infinite, 1, 0, 1}, seq{5});
  const double products_of_ends[] = {2, -infinite, -infinite, not_a_number, not_a_number};
  CHECK(agrees(cumprod<seq>(beside_zero), {5}, 0, [&](auto s) { return products_of_ends[s]; }) == "");
}

TEST_CASE("sums over all packed documents, where that is said") {
  struct pack : dimwise::packed_dim<> {};
  const tensor<float, pack, d_k> x({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, pack{{2, 1}});
  const tensor<float, pack> g({1, 0, 2}, pack{{2, 1}});
  const tensor total = sum<pack>(x, dimwise::all_documents{});
  const tensor average = mean<pack>(x, dimwise::all_documents{});
  const tensor product = dimwise::contract<pack>(g, x, dimwise::all_documents{});
  CHECK(std::ranges::equal(total.values(), std::array{15.0F, 18.0F, 21.0F, 24.0F}));
  CHECK(std::ranges::equal(average.values(), std::array{5.0F, 6.0F, 7.0F, 8.0F}));
  CHECK(std::ranges::equal(product.values(), std::array{19.0F, 22.0F, 25.0F, 28.0F}));
}

TEST_CASE("reductions: many terms lose no digits, along rows and down columns") {
  struct many : dimwise::position_dim<> {};
  struct three : dimwise::feature_dim<3> {};
  constexpr std::size_t n = 1'000'000;
  tensor<float, many, three> x(many{n});
  std::fill_n(x.data(), 3 * n, 0.48F);
  const double bound = 0x1p-24 * 84 * 0.48;
  const tensor<float, three> columns = mean<many>(x);
  for (std::size_t d = 0; d < 3; ++d) { CHECK(std::abs(double{columns.data()[d]} - double{0.48F}) <= bound); }
  const tensor<float> all = mean<many, three>(x);
  CHECK(std::abs(double{all.data()[0]} - double{0.48F}) <= bound);
  const tensor<float> total = sum<many, three>(x);
  CHECK(std::abs(double{total.data()[0]} - 3.0 * n * double{0.48F}) <= bound * 3.0 * n);
}

// SPDX-License-Identifier: BSL-1.0
// Gradients of products of tensors: added to what has arrived, under other names and in other orders.
#include "../nodes.hpp"

#include <cmath>

using namespace grad_tests;

namespace {

struct inputs : feature_dim<24> {};
struct outputs : feature_dim<20> {};

using input = tensor<float, batch, seq, inputs>;
using weight = tensor<float, outputs, inputs>;  // the contracted dimension is the inner one

// Two products read x, one of them by another name of its positions, and each of them one of the weights.
template <class X, class W>
auto two_products(const X& x, const W& w, const W& u) {
  const tensor a = contract<inputs>(x, w);
  const tensor b = contract<inputs>(rename<seq, key>(x), u);
  const tensor c = mean<seq>(a) * mean<key>(b);
  return sum<batch, outputs>(c);
}

}  // namespace

TEST_CASE("the gradients of two products of one tensor are added up by kernels") {
  const auto x = drawn<input>(1, batch{3}, seq{17});
  const auto w = drawn<weight>(2);
  const auto u = drawn<weight>(3);
  const std::tuple all(x, w, u);
  const auto loss = [](const auto& m) { return two_products(std::get<0>(m), std::get<1>(m), std::get<2>(m)); };
  context cx;
  const use_context scope(cx);
  const auto fast = value_and_gradient(all, loss).gradient;
  CHECK(cx.counts()[plan_kind::product] == 6);  // two forward, and two gradients of each
  const auto precise = value_and_gradient(converted<double>(all), loss).gradient;
  const auto close = [](const auto& a, const auto& b) {
    double largest = 0;
    for (std::size_t i = 0; i < b.size(); ++i) { largest = std::max(largest, std::abs(b.data()[i])); }
    CHECK(largest > 0);
    // Sums of 51 products, each of numbers that are sums of 24 themselves.
    for (std::size_t i = 0; i < a.size(); ++i) { CHECK(std::abs(a.data()[i] - b.data()[i]) <= 2e-5 * largest); }
  };
  close(std::get<0>(fast), std::get<0>(precise));
  close(std::get<1>(fast), std::get<1>(precise));
  close(std::get<2>(fast), std::get<2>(precise));
}

TEST_CASE("a gradient of 0 leaves out what it meets, also where something has arrived") {
  auto x = drawn<input>(4, batch{2}, seq{9});
  const auto w = drawn<weight>(5);
  x.set(INFINITY, id<batch>(1), id<seq>(2), id<inputs>(3));
  const std::tuple all(w);
  const auto gradient_by = [&](bool twice) {
    return std::get<0>(value_and_gradient(all, [&](const auto& m) {
      const tensor a = contract<inputs>(x, std::get<0>(m));
      const tensor here = where(tensor<bool, batch>({true, false}, batch{2}), a, 0);
      const tensor first = sum<batch, seq, outputs>(here);
      if (!twice) { return tensor(first * 1.0F); }
      const tensor again = contract<inputs>(x, std::get<0>(m));
      return tensor(first + sum<batch, seq, outputs>(where(tensor<bool, batch>({true, false}, batch{2}), again, 0)));
    }).gradient);
  };
  const auto once = gradient_by(false);
  const auto both = gradient_by(true);
  for (std::size_t i = 0; i < once.size(); ++i) {
    CHECK(std::isfinite(once.data()[i]));
    CHECK(both.data()[i] == once.data()[i] + once.data()[i]);
  }
}

TEST_CASE("the loops of a product's gradient agree with its kernel") {
  const std::tuple all(drawn<input>(6, batch{3}, seq{11}), drawn<weight>(7), drawn<weight>(8));
  const auto loss = [](const auto& m) { return two_products(std::get<0>(m), std::get<1>(m), std::get<2>(m)); };
  const auto by_kernels = value_and_gradient(all, loss).gradient;
  context cx;
  cx.force_reference();
  const use_context scope(cx);
  const auto by_loops = value_and_gradient(all, loss).gradient;
  CHECK(cx.counts()[plan_kind::product] == 0);
  const auto& a = std::get<0>(by_kernels);
  const auto& b = std::get<0>(by_loops);
  // The same float sums of 20 terms in another order.
  for (std::size_t i = 0; i < a.size(); ++i) { CHECK(std::abs(a.data()[i] - b.data()[i]) <= 1e-5F); }
}

TEST_CASE("an adjoint that gives other extents is an error of the library") {
  const tensor<tracked<float>, seq, outputs> x(tensor<float, seq, outputs>(seq{4}));
  const tensor<float, seq, outputs> g(seq{3});
  CHECK_THROWS_WITH_AS(dimwise::detail::send_gradient(square(x), g),
                       "gradient: an adjoint gives dimension seq an extent of 3 where 4 is expected (R15)",
                       extent_error);
}

// SPDX-License-Identifier: BSL-1.0
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

#include <doctest/doctest.h>

namespace {
using namespace dimwise;
struct batch : batch_dim<> {};
struct seq : position_dim<> {};
struct key : prime<seq> {};
struct d_model : feature_dim<8> {};
struct heads : heads_dim<2> {};
struct d_k : divided<d_model, heads> {};
struct d_v : divided<d_model, heads> {};

template <class T, class... E>
auto drawn(std::uint64_t seed, const E&... e) {
  T t(e...);
  nn::random r(seed);
  std::vector<typename T::value_type> v(t.size());
  for (auto& x : v) x = r.normal();
  t.assign(v);
  return t;
}

// A loss without a value is refused by name.
constexpr auto without_return = [](const auto&) {};
static_assert(std::same_as<detail::loss_verdict<tensor<float>, decltype(without_return)>, detail::loss_gives_no_value>);

TEST_CASE("a product") {
  auto x = drawn<tensor<double, batch, d_model>>(1, batch{3});
  auto w = drawn<tensor<double, d_model, d_k>>(2);
  auto [value, g] = value_and_gradient(std::tuple(x, w), [](const auto& m) {
    const auto& [a, b] = m;
    return sum<batch, d_k>(square(contract<d_model>(a, b)));
  });
  tensor<double, batch, d_k> y = contract<d_model>(x, w);
  tensor<double, batch, d_model> dx = contract<d_k>(2.0 * y, w);
  for (std::size_t i = 0; i < dx.size(); ++i) CHECK(std::get<0>(g).data()[i] == doctest::Approx(dx.data()[i]));
  CHECK(value == doctest::Approx(double(sum<batch, d_k>(square(y)))));
}
}  // namespace

// SPDX-License-Identifier: BSL-1.0
// The dimensions and the comparison that the tests of adjoints share.
#pragma once

#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

#include <doctest/doctest.h>

#include <cmath>

namespace grad_tests {

using namespace dimwise;

struct batch : batch_dim<> {};
struct seq : position_dim<> {};
struct key : prime<seq> {};
struct distance : position_dim<> {};
struct d_model : feature_dim<8> {};
struct hidden : feature_dim<6> {};
struct heads : heads_dim<2> {};
struct d_k : divided<d_model, heads> {};
struct d_v : feature_dim<3> {};
struct rot : feature_dim<2> {};
struct width : position_dim<> {};
struct vocab : choice_dim<> {};
struct best : choice_dim<2> {};
struct copies : batch_dim<> {};
struct cls : position_dim<1> {};

template <class T, class... E>
T drawn(std::uint64_t seed, const E&... e) {
  T t(e...);
  nn::random r(seed);
  std::vector<typename T::value_type> v(t.size());
  for (auto& x : v) { x = static_cast<typename T::value_type>(r.normal()); }
  t.assign(v);
  return t;
}
template <class... D, class... E>
tensor<double, D...> some(std::uint64_t seed, const E&... e) {
  return drawn<tensor<double, D...>>(seed, e...);
}

// The same, 0.05 and more from every multiple of 0.1: no step of a difference crosses the kink of a function there.
template <class... D, class... E>
tensor<double, D...> between_kinks(std::uint64_t seed, const E&... e) {
  auto t = some<D...>(seed, e...);
  double* const to = t.overwrite();
  for (std::size_t i = 0; i < t.size(); ++i) { to[i] = std::floor(to[i] * 10) / 10 + 0.05; }
  return t;
}
template <class... D, class X>
auto total(const X& x, detail::list<D...>) {
  return detail::make_total<shape<>, detail::value_of<X>, detail::totals::sum, detail::list<D...>>(x);
}
// A loss that weighs each element of `y` by another number, so that no two of its gradients agree by chance.
template <class Y>
auto weighed(const Y& y) {
  const tensor stored = y;
  const auto& value = detail::untracked_of(stored);
  using plain = detail::tensor_of<double, detail::gradient_shape<Y>>;
  auto weights = plain::for_overwriting(value.extents());
  auto* to = weights.overwrite();
  nn::random r(99);
  for (std::size_t i = 0; i < weights.size(); ++i) { to[i] = r.normal(); }
  const auto unmarked = detail::make_with_marks<detail::gradient_shape<Y>>(stored);
  return total(detail::by_element(fn::multiply{}, unmarked, weights), detail::dims_t<detail::shape_of<Y>>{});
}

// The gradient of `weighed(f(x…))` agrees with differences in float64.
#define CHECK_ADJOINT(model, ...)                                                                  \
  do {                                                                                             \
    const auto check = check_gradient(model, [&](const auto& m) { return weighed(__VA_ARGS__); }); \
    INFO(check.where, ": ", check.gradient, " against ", check.difference);                        \
    CHECK(check.elements > 0);                                                                     \
    CHECK(check.error < 1e-8);                                                                     \
  } while (false)

}  // namespace grad_tests

// SPDX-License-Identifier: BSL-1.0
// What is recorded, what is a constant, and what belongs to another call.
#include "nodes.hpp"
#include "support/threads.hpp"

#include <optional>
#include <sstream>
#include <string>
#include <thread>

using namespace grad_tests;

namespace {

template <class F>
std::string thrown_by(const F& f) {
  try {
    f();
  } catch (const gradient_error& e) { return e.what(); }
  return "";
}

}  // namespace

TEST_CASE("elements are tracked where an operand is") {
  using tracked_tensor = tensor<tracked<float>, batch, d_model>;
  using plain_tensor = tensor<float, batch, d_model>;
  static_assert(
      std::is_same_v<detail::value_of<decltype(std::declval<tracked_tensor>() + std::declval<plain_tensor>())>,
                     tracked<float>>);
  static_assert(std::is_same_v<detail::value_of<decltype(2.0F * std::declval<tracked_tensor>())>, tracked<float>>);
  static_assert(std::is_same_v<detail::value_of<decltype(std::declval<tracked_tensor>() < 1.0F)>, bool>);
  static_assert(std::is_same_v<decltype(tensor(relu(std::declval<tracked_tensor>()))), tracked_tensor>);
  // Nothing that is tracked becomes plain by the way: `detached` says it.
  static_assert(!std::is_constructible_v<plain_tensor, const tracked_tensor&>);
  static_assert(!std::is_assignable_v<plain_tensor&, const tracked_tensor&>);
  static_assert(std::is_constructible_v<tracked_tensor, const plain_tensor&>);
  static_assert(std::is_same_v<decltype(detached(std::declval<tracked_tensor>())), plain_tensor>);
}

// A module of a user's own that begins with zeros, as recurrent modules do.
namespace {
template <class T = float>
struct from_zeros {
  using weight_type = tensor<T, d_model>;
  BOOST_HANA_DEFINE_STRUCT(from_zeros, (weight_type, weight));
  auto operator()(batch rows) const {
    tensor<T, batch, d_model> state(rows);
    tensor<T, d_model> small;
    const tensor<T> half(0.5);
    for (int step = 0; step < 2; ++step) { state = half * state + weight + small; }
    return state;
  }
};
}  // namespace

TEST_CASE("zeros and numbers of a module with tracked elements are constants") {
  const from_zeros<double> model{some<d_model>(1)};
  const auto result = value_and_gradient(model, [](const auto& m) { return sum<batch, d_model>(m(batch{3})); });
  for (std::size_t i = 0; i < model.weight.size(); ++i) {
    CHECK(result.gradient.weight.data()[i] == doctest::Approx(3 * 1.5));
  }
  const tensor<tracked<float>, batch, d_model> zeros(batch{2});
  CHECK(zeros.origin() == nullptr);
  CHECK(zeros.size() == zeros.value().size());
  CHECK(zeros.extents().template extent<batch>() == 2);
  static_assert(!std::is_constructible_v<tensor<tracked<float>, batch, d_model>, vocab>);
}

TEST_CASE("stored values, values read twice, and values that nothing reads") {
  const auto x = some<d_model>(1);
  const auto result = value_and_gradient(x, [](const auto& m) {
    const tensor twice = m * 2.0;
    const tensor unused = exp(m);
    const tensor squares = twice * twice;
    return sum<d_model>(squares + twice);
  });
  for (std::size_t i = 0; i < x.size(); ++i) {
    CHECK(result.gradient.data()[i] == doctest::Approx(8 * x.data()[i] + 2));
  }
}

TEST_CASE("what is updated in place is recorded: x += y is x = x + y") {
  const auto x = some<d_model>(1);
  const auto y = some<d_model>(2);
  CHECK_ADJOINT(std::tuple(x, y), [&](const auto& one, const auto& other) {
    tensor h = one * 2.0;
    const tensor before = h;
    h += exp(h);
    h -= other;
    h *= other;
    h /= 3.0;
    h += 1.0;
    h += h;
    return tensor(h + before);
  }(std::get<0>(m), std::get<1>(m)));
  const auto doubled = value_and_gradient(x, [](const auto& m) {
    tensor h = m * 1.0;
    h += 1.0;
    return sum<d_model>(h);
  });
  const tensor total = sum<d_model>(x);
  CHECK(doubled.value == doctest::Approx(*total.data() + 8));
}

TEST_CASE("a parameter that the loss does not read has the gradient 0, and so has what was detached") {
  const auto x = some<d_model>(1);
  const auto g = gradient(std::tuple(x, x, x),
                          [](const auto& m) { return sum<d_model>(std::get<0>(m) * detached(std::get<1>(m))); });
  for (std::size_t i = 0; i < x.size(); ++i) {
    CHECK(std::get<0>(g).data()[i] == x.data()[i]);
    CHECK(std::get<1>(g).data()[i] == 0);
    CHECK(std::get<2>(g).data()[i] == 0);
  }
}

TEST_CASE("what was read is kept as it was") {
  auto x = some<d_model>(1);
  const auto before = x;
  const auto g = gradient(x, [&](const auto& m) {
    const auto loss = sum<d_model>(m * x);
    x.fill(0);
    return loss;
  });
  for (std::size_t i = 0; i < x.size(); ++i) { CHECK(g.data()[i] == before.data()[i]); }
}

TEST_CASE("calls within calls: independent ones count, those that read the outer one's tensors throw") {
  const auto x = some<d_model>(1);
  const auto g = gradient(x, [&](const auto& m) {
    const auto inner = gradient(x, [](const auto& n) { return sum<d_model>(square(n)); });
    return sum<d_model>(m * inner);
  });
  for (std::size_t i = 0; i < x.size(); ++i) { CHECK(g.data()[i] == doctest::Approx(2 * x.data()[i])); }

  const std::string error = thrown_by([&] {
    (void)gradient(x, [&](const auto& m) {
      const auto inner = gradient(x, [&](const auto& n) { return sum<d_model>(m * n); });
      return sum<d_model>(m * inner);
    });
  });
  CHECK(error.find("another call of value_and_gradient") != std::string::npos);
  // After an exception the next call is as any other.
  const tensor ones = gradient(x, [](const auto& m) { return sum<d_model>(m); });
  CHECK(ones.data()[0] == 1);
}

TEST_CASE("tensors of a call that has ended, and of another thread" * support::threads) {
  const auto x = some<d_model>(1);
  std::optional<tensor<tracked<double>, d_model>> kept;
  (void)gradient(x, [&](const auto& m) {
    kept = m;
    return sum<d_model>(m);
  });
  CHECK(kept->value().data()[0] == x.data()[0]);
  CHECK(thrown_by([&] { const tensor y = *kept * 2.0; }).find("has ended") != std::string::npos);
  CHECK(thrown_by([&] {
    (void)gradient(x, [&](const auto& m) { return sum<d_model>(m * *kept); });
  }).find("another call") != std::string::npos);

  std::string elsewhere;
  (void)gradient(x, [&](const auto& m) {
    std::thread([&] { elsewhere = thrown_by([&] { const tensor y = m * 2.0; }); }).join();
    return sum<d_model>(m);
  });
  CHECK(elsewhere.find("another thread") != std::string::npos);
}

TEST_CASE("a tracked tensor is printed as its value") {
  const auto x = some<d_model>(1);
  std::ostringstream printed;
  (void)gradient(x, [&](const auto& m) {
    const tensor h = square(m);
    printed << h << m + 1.0 << tensor(sum<d_model>(h));
    return sum<d_model>(h);
  });
  std::ostringstream expected;
  const tensor h = square(x);
  expected << h << tensor(x + 1.0) << tensor(sum<d_model>(h));
  CHECK(printed.str() == expected.str());
}

TEST_CASE("threads differentiate beside each other" * support::threads) {
  const auto x = some<d_model>(1);
  tensor<double, d_model> first;
  tensor<double, d_model> second;
  const auto work = [&](tensor<double, d_model>& to) {
    for (int i = 0; i < 20; ++i) {
      to = gradient(x, [](const auto& m) { return sum<d_model>(exp(square(m))); });
    }
  };
  std::thread other([&] { work(first); });
  work(second);
  other.join();
  for (std::size_t i = 0; i < x.size(); ++i) { CHECK(first.data()[i] == second.data()[i]); }
}

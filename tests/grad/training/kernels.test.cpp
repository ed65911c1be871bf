// SPDX-License-Identifier: BSL-1.0
// What a step of training does beside its layers runs through kernels, agrees with the reference loops, and has the
// same bits for every executor.
#include "grad/nodes.hpp"

#include <cmath>
#include <limits>
#include <string>

using namespace grad_tests;

namespace {

struct wide : feature_dim<48> {};

// Three workers whose tasks come last first.
struct backwards {
  [[nodiscard]] static std::size_t worker_count() { return 3; }
  template <class F>
  void parallel_for(std::size_t count, F&& f) const {
    for (std::size_t i = count; i-- > 0;) { f(i, i % 3); }
  }
};
struct ran {
  plan_counts counts;
  [[nodiscard]] std::size_t plain() const { return counts[plan_kind::plain]; }
};
// f() by kernels, and which plans ran.
template <class F>
auto by_kernels(ran& how, const F& f) {
  context cx;
  const use_context scope(cx);
  auto result = f();
  how.counts = cx.counts();
  return result;
}
template <class F>
auto by_loops(const F& f) {
  const plain_loops only;
  return f();
}
template <class F>
auto by_threads(const F& f) {
  backwards executor;
  context cx(executor);
  const use_context scope(cx);
  return f();
}
template <class X>
void check_same_bits(const X& a, const X& b) {
  REQUIRE(a.size() == b.size());
  CHECK(std::equal(a.data(), a.data() + a.size(), b.data()));
}
// As far as `relative` times the largest element.
template <class X>
void check_close(const X& a, const X& b, double relative) {
  REQUIRE(a.size() == b.size());
  double largest = 0;
  for (std::size_t i = 0; i < b.size(); ++i) { largest = std::max(largest, std::abs(double(b.data()[i]))); }
  REQUIRE(largest > 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    CHECK(std::abs(double(a.data()[i]) - double(b.data()[i])) <= relative * largest);
  }
}

template <class T>
using table_of = tensor<T, vocab, wide>;
// Eight roundings; ids, sums and functions of a loss have a bound of their own.
template <class T>
constexpr double rounding = 8 * double(std::numeric_limits<T>::epsilon());

}  // namespace

TEST_CASE_TEMPLATE("adam: kernels, loops, executors, and a step that was taken up again", T, float, double) {
  const auto start = drawn<table_of<T>>(1, vocab{701});
  const table_of<T> g[] = {drawn<table_of<T>>(2, vocab{701}), drawn<table_of<T>>(3, vocab{701})};
  const auto stepped = [&] {
    auto p = start;
    adamw optimiser(p, {.rate = 0.01, .weight_decay = 0.1});
    optimiser.step(p, g[0]);
    adamw again(p, optimiser.settings);
    again.state = optimiser.state;
    again.step(p, g[1]);
    return p;
  };
  ran how;
  const auto fast = by_kernels(how, stepped);
  CHECK(how.counts[plan_kind::map] == 2);
  CHECK(how.plain() == 0);
  check_same_bits(fast, by_threads(stepped));
  check_close(fast, by_loops(stepped), rounding<T>);
  const auto straight = [&] {
    auto p = start;
    adamw optimiser(p, {.rate = 0.01, .weight_decay = 0.1});
    optimiser.step(p, g[0]);
    optimiser.step(p, g[1]);
    return p;
  };
  check_same_bits(fast, straight());
}

TEST_CASE_TEMPLATE("clip_norm: kernels, loops and executors", T, float, double) {
  const auto g = drawn<table_of<T>>(4, vocab{3001});
  const auto clipped = [&] { return clip_norm(g, 0.5); };
  ran how;
  const auto fast = by_kernels(how, clipped);
  CHECK(how.counts[plan_kind::rows] == 1);
  CHECK(how.counts[plan_kind::map] == 1);
  CHECK(how.plain() == 0);
  check_same_bits(fast, by_threads(clipped));
  check_close(fast, by_loops(clipped), rounding<T>);
  CHECK(norm_of(g) == doctest::Approx(by_loops([&] { return norm_of(g); })).epsilon(1e-12));
}

TEST_CASE_TEMPLATE("gradients of batches are added by kernels", T, float, double) {
  const auto w = drawn<tensor<T, wide>>(5);
  ran how;
  const auto mean_of = [&] {
    accumulated total(w);
    for (int i = 0; i < 3; ++i) {
      total.add([&](const auto& m) { return mean_squared_error(m, tensor(w * T(i + 1))); });
    }
    return total.mean().gradient;
  };
  const auto fast = by_kernels(how, mean_of);
  CHECK(how.plain() == 0);
  check_close(fast, by_loops(mean_of), rounding<T>);
}

TEST_CASE_TEMPLATE("cross_entropy: kernels, loops and executors", T, float, double) {
  const auto logits = drawn<tensor<T, batch, seq, vocab>>(6, batch{3}, seq{40}, vocab{301});
  std::vector<std::size_t> words;
  for (std::size_t i = 0; i < 120; ++i) { words.push_back(i * 37 % 301); }
  const tensor<id<vocab>, batch, seq> ids(words, batch{3}, seq{40});
  const tensor<int, batch> lengths(std::vector{40, 7, 0}, batch{3});
  const tensor<T, vocab> weights = exp(drawn<tensor<T, vocab>>(7, vocab{301}));
  const tensor<T, batch, seq, vocab> distribution = plain(softmax<vocab>(logits * T(0.5)));
  const auto compare = [&](const char* what, const auto& loss) {
    INFO(std::string(what));
    const auto value = [&] { return value_and_gradient(logits, loss); };
    ran how;
    const auto fast = by_kernels(how, value);
    CHECK(how.plain() == 0);
    const auto threads = by_threads(value);
    CHECK(fast.value == threads.value);
    check_same_bits(fast.gradient, threads.gradient);
    const auto loops = by_loops(value);
    CHECK(fast.value == doctest::Approx(loops.value).epsilon(80 * double(std::numeric_limits<T>::epsilon())));
    check_close(fast.gradient, loops.gradient, 16 * double(std::numeric_limits<T>::epsilon()));
  };
  compare("ids", [&](const auto& m) { return cross_entropy<vocab>(m, ids); });
  compare("smoothing", [&](const auto& m) { return cross_entropy<vocab>(m, ids, label_smoothing{0.1}); });
  compare("weights", [&](const auto& m) { return cross_entropy<vocab>(m, ids, class_weights(weights)).sum; });
  compare("distribution", [&](const auto& m) { return cross_entropy<vocab>(m, distribution); });
  const auto masked_loss = [&](const auto& m) {
    return cross_entropy<vocab>(m, ids, padding<seq>(lengths), class_weights(weights), label_smoothing{0.2}).sum;
  };
  compare("everything at once", masked_loss);
  // What is not counted is not read, and its id may be any.
  auto odd = ids;
  odd.set(id<vocab>(301), id<batch>(1), id<seq>(9));
  auto with_nan = logits;
  with_nan.set(std::numeric_limits<T>::quiet_NaN(), id<batch>(1), id<seq>(9), id<vocab>(3));
  const auto seen =
      value_and_gradient(with_nan, [&](const auto& m) { return cross_entropy<vocab>(m, odd, padding<seq>(lengths)); });
  CHECK(std::isfinite(seen.value));
  CHECK(std::isfinite(norm_of(seen.gradient)));
  CHECK_THROWS_AS(static_cast<void>(cross_entropy<vocab>(logits, odd)), index_error);
}

TEST_CASE_TEMPLATE("the gradient of a table whose rows were read by ids: kernels, loops and executors", T, float,
                   double) {
  const auto rows = drawn<table_of<T>>(8, vocab{50});
  std::vector<std::size_t> words;
  for (std::size_t i = 0; i < 400; ++i) { words.push_back(i * i % 50); }
  const tensor<id<vocab>, batch, seq> ids(words, batch{4}, seq{100});
  const auto weights = drawn<tensor<T, batch, seq, wide>>(9, batch{4}, seq{100});
  const auto value = [&] {
    return gradient(rows, [&](const auto& m) { return sum<batch, seq, wide>(gather<vocab>(m, ids) * weights); });
  };
  ran how;
  const auto fast = by_kernels(how, value);
  CHECK(how.plain() == 0);
  check_same_bits(fast, by_threads(value));
  check_same_bits(fast, by_loops(value));
}

TEST_CASE_TEMPLATE("the gradient of a table: by the kernel also where what arrives is repeated, or in another order", T,
                   float, double) {
  const auto rows = drawn<table_of<T>>(8, vocab{50});
  const tensor<id<vocab>, batch, seq> ids(std::vector<std::size_t>{1, 7, 7, 0, 49, 3}, batch{2}, seq{3});
  const auto weights = drawn<tensor<T, wide, seq, batch>>(9, seq{3}, batch{2});
  // `others`: what the formula has beside the table that no kernel takes.
  const auto check = [](std::size_t others, const auto& value) {
    ran how;
    const auto fast = by_kernels(how, value);
    CHECK(how.plain() == others);
    check_close(fast, by_loops(value), rounding<T>);
  };
  check(0, [&] { return gradient(rows, [&](const auto& m) { return sum<batch, seq, wide>(gather<vocab>(m, ids)); }); });
  check(2, [&] {
    return gradient(rows, [&](const auto& m) {
      return sum<batch, seq, wide>(permute<wide, seq, batch>(gather<vocab>(m, ids)) * weights);
    });
  });
}

// SPDX-License-Identifier: BSL-1.0
// Sums of very many terms in formulas, losses and gradients, by kernels and by the reference loops, against sums in a
// wider type.
#include "grad/nodes.hpp"
#include <dimwise/eval/loops/backward_views.hpp>

#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

using namespace grad_tests;

namespace {

struct rows : batch_dim<> {};
struct middle : batch_dim<2> {};
struct inner : batch_dim<> {};
struct wide : feature_dim<16> {};
struct classes : choice_dim<2> {};
struct hidden_of_all : feature_dim<> {};

constexpr double x = 0.48;  // no float: the roundings of its multiples all point one way for long stretches

template <class T>
using wider = std::conditional_t<std::is_same_v<T, float>, double, long double>;

// u (c + log2 n), relative: what sums in blocks lose, whose sums are carried. 512 terms at most are one block.
template <class T>
bool near(T is, wider<T> should, std::size_t n) {
  const auto allowed = std::numeric_limits<T>::epsilon() / 2 * (128 + std::log2(static_cast<double>(n)));
  return std::abs(static_cast<wider<T>>(is) - should) <= static_cast<wider<T>>(allowed) * std::abs(should);
}
template <class T>
wider<T> times_x(std::size_t n) {
  return static_cast<wider<T>>(static_cast<T>(x)) * static_cast<wider<T>>(n);
}

template <class X>
auto first_of(const X& expression) {
  const tensor y = expression;
  return *y.data();
}

// f() by kernels where there are some, and by the reference loops.
template <class F>
void both_ways(const F& f) {
  SUBCASE("by kernels") { f(); }
  SUBCASE("by loops") {
    const plain_loops only;
    f();
  }
}

template <class T>
void sums_of_rows() {
  constexpr std::size_t n = 2'000'000;
  tensor<T, seq> row(seq{n});
  row.fill(static_cast<T>(x));
  CHECK(near(first_of(sum<seq>(row)), times_x<T>(n), n));
  CHECK(near(first_of(mean<seq>(row)), times_x<T>(1), n));
  const auto largest = static_cast<wider<T>>(static_cast<T>(x));
  CHECK(near(first_of(logsumexp<seq>(row)), largest + std::log(static_cast<wider<T>>(n)), n));
}

}  // namespace

TEST_CASE_TEMPLATE("long sums: sums, means and logarithms of sums", T, float, double) {
  both_ways([] { sums_of_rows<T>(); });
}

// A row whose exponentials are not multiples of each other.
TEST_CASE_TEMPLATE("long sums: logarithms of sums of different exponentials", T, float, double) {
  both_ways([] {
    constexpr std::size_t n = 1'000'000;
    tensor<T, seq> row(seq{n});
    row.fill(static_cast<T>(x));
    row.overwrite()[n - 1] = static_cast<T>(2);
    const auto low = static_cast<wider<T>>(static_cast<T>(x));
    const wider<T> should = 2 + std::log(1 + (n - 1) * std::exp(low - 2));
    CHECK(near(first_of(logsumexp<seq>(row)), should, n));
  });
}

TEST_CASE_TEMPLATE("long sums: norms", T, float, double) {
  both_ways([] {
    constexpr std::size_t n = 1'000'000;
    tensor<T, hidden_of_all> row(hidden_of_all{n});
    T* const to = row.overwrite();
    for (std::size_t i = 0; i < n; ++i) { to[i] = static_cast<T>(i % 2 == 0 ? x : 2 * x); }
    const tensor y = layer_norm<hidden_of_all>(row, T(0));
    CHECK(near(y.data()[0], -1, n));
    CHECK(near(y.data()[n - 1], 1, n));
    const tensor z = rms_norm<hidden_of_all>(row, T(0));
    CHECK(near(z.data()[0], 1 / std::sqrt(wider<T>(2.5)), n));
  });
}

TEST_CASE_TEMPLATE("long sums: cumulative sums and their gradient", T, float, double) {
  constexpr std::size_t n = 1'000'000;
  tensor<T, seq> row(seq{n});
  row.fill(static_cast<T>(x));
  const tensor y = cumsum<seq>(row);
  const auto g = gradient(row, [](const auto& m) { return sum<seq>(cumsum<seq>(m) * static_cast<T>(x)); });
  for (const std::size_t terms : {std::size_t{1}, std::size_t{1000}, n / 2, n}) {
    CHECK(near(y.data()[terms - 1], times_x<T>(terms), n));
    CHECK(near(g.data()[n - terms], times_x<T>(terms), n));
  }
}

// Columns over two dimensions that are not side by side: very many runs of two rows.
TEST_CASE_TEMPLATE("long sums: columns of many runs", T, float, double) {
  both_ways([] {
    constexpr std::size_t n = 20'000;
    tensor<T, rows, middle, inner, wide> all(rows{n}, inner{2});
    all.fill(static_cast<T>(x));
    const tensor y = sum<rows, inner>(all);
    CHECK(near(y.data()[0], times_x<T>(2 * n), 2 * n));
    CHECK(near(y.data()[y.size() - 1], times_x<T>(2 * n), 2 * n));
    CHECK(near(first_of(mean<rows, inner>(all)), times_x<T>(1), 2 * n));
  });
}

namespace {

template <class T>
void rows_of_two_ids() {
  constexpr std::size_t n = 200'000;
  tensor<id<classes>, seq> ids(seq{n});
  for (std::size_t i = 0; i < n; ++i) { ids.overwrite()[i] = id<classes>(i % 4 == 0 ? 1 : 0); }
  tensor<T, seq, wide> values(seq{n});
  values.fill(static_cast<T>(x));
  const tensor y = scatter_add<classes, seq>(values, ids);
  CHECK(near(y.data()[0], times_x<T>(n / 4 * 3), n));
  CHECK(near(y.data()[y.size() - 1], times_x<T>(n / 4), n));
  // The gradient of a table whose rows are read as often.
  const tensor table{tensor<T, classes, wide>{}};
  const auto g = gradient(table, [&](const auto& m) { return sum<seq, wide>(gather<classes>(m, ids) * values); });
  CHECK(near(g.data()[0], times_x<T>(n / 4 * 3), n));
  CHECK(near(g.data()[g.size() - 1], times_x<T>(n / 4), n));
}

}  // namespace

TEST_CASE_TEMPLATE("long sums: rows that are added by ids", T, float, double) {
  both_ways([] { rows_of_two_ids<T>(); });
}

TEST_CASE_TEMPLATE("long sums: losses", T, float, double) {
  both_ways([] {
    constexpr std::size_t n = 500'000;
    tensor<T, seq, classes> logits(seq{n});
    tensor<id<classes>, seq> ids(seq{n});
    const average loss = cross_entropy<classes>(logits, ids);
    CHECK(loss.count == n);
    CHECK(near(loss.value(), std::log(wider<T>(2)), n));
    tensor<T, seq> predictions(seq{n}), targets(seq{n});
    predictions.fill(static_cast<T>(x));
    const auto square = static_cast<wider<T>>(static_cast<T>(x)) * static_cast<wider<T>>(static_cast<T>(x));
    CHECK(near(mean_squared_error(predictions, targets).value(), square, n));
    const auto one = static_cast<wider<T>>(static_cast<T>(x));
    CHECK(near(binary_cross_entropy(predictions, targets).value(), std::log1p(std::exp(one)), n));
  });
}

// The classes are in one row: they are what is summed.
TEST_CASE_TEMPLATE("long sums: a loss of many classes, and its gradient", T, float, double) {
  both_ways([] {
    constexpr std::size_t n = 500'000;
    tensor<T, seq, vocab> logits(seq{1}, vocab{n});
    logits.fill(static_cast<T>(-x));
    logits.overwrite()[7] = T(0);
    const tensor<id<vocab>, seq> ids(std::vector{7}, seq{1});
    const auto low = static_cast<wider<T>>(static_cast<T>(-x));
    const wider<T> exponentials = 1 + (n - 1) * std::exp(low);
    const auto [loss, g] =
        value_and_gradient(logits, [&](const auto& m) { return cross_entropy<vocab>(m, ids).mean(); });
    CHECK(near(loss, std::log(exponentials), n));
    CHECK(near(g.data()[0], std::exp(low) / exponentials, n));
    CHECK(near(cross_entropy<vocab>(logits, ids, label_smoothing{0.5}).value(),
               std::log(exponentials) - low / 2 * (n - 1) / n, n));
  });
}

TEST_CASE_TEMPLATE("long sums: averages that are added", T, float, double) {
  constexpr int n = 100'000;
  const tensor<T> one(static_cast<T>(x));
  average<T, seq> all{tensor<T>(T(0)), 0};
  for (int i = 0; i < n; ++i) { all += average<T, seq>{one, 1}; }
  CHECK(near(all.value(), times_x<T>(1), n));
  CHECK(near(first_of((all * 2.0).sum), times_x<T>(2 * n), n));
  // Infinities stay infinities.
  all += average<T, seq>{tensor<T>(std::numeric_limits<T>::infinity()), 1};
  CHECK(all.value() == std::numeric_limits<T>::infinity());
  all += average<T, seq>{one, 1};
  CHECK(all.value() == std::numeric_limits<T>::infinity());
}

TEST_CASE_TEMPLATE("long sums: the norm of a gradient", T, float, double) {
  both_ways([] {
    constexpr std::size_t n = 2'000'000;
    tensor<T, seq> g(seq{n});
    g.fill(static_cast<T>(x));
    const long double should = std::sqrt(static_cast<long double>(n)) * static_cast<long double>(static_cast<T>(x));
    // A float64, whatever the elements are.
    CHECK(near(norm_of(g), should, n));
  });
}

// Elements of one operand that are in very many elements of a view: rows of four that are all the same one.
TEST_CASE_TEMPLATE("long sums: the gradient of a view", T, float, double) {
  constexpr std::size_t n = 500'000;
  const std::vector<T> g(4, static_cast<T>(x));
  std::vector<T> sums(4);
  kernels::loop_nest<2> nest;
  nest.add(n, {0, 0});
  nest.add(4, {1, 1});
  CHECK(detail::most_terms(nest) == n);
  detail::add_view(nest, sums.data(), g.data(), [](std::size_t count, T* to, auto by, const T* from, auto step) {
    for (; count > 0; --count, to += by, from += step) { *to += *from; }
  });
  // Blocks of 128 rows are added one after the other.
  const auto allowed = std::numeric_limits<T>::epsilon() / 2 * (128.0 + n / 128.0);
  for (const T sum : sums) {
    CHECK(std::abs(static_cast<wider<T>>(sum) - times_x<T>(n)) <= static_cast<wider<T>>(allowed) * times_x<T>(n));
  }
}

// Windows overlap: every element but the first and last ones is in all places of one.
TEST_CASE("long sums: how many elements of a view are one of its operand") {
  kernels::loop_nest<2> windows;
  windows.add(1000, {4, 400});  // 1000 windows of 50 positions of 4 features
  windows.add(200, {1, 1});
  CHECK(detail::most_terms(windows) == 50);
  kernels::loop_nest<2> apart;
  apart.add(1000, {-200, 200});
  apart.add(100, {2, 1});
  CHECK(detail::most_terms(apart) == 1);
  both_ways([] {
    constexpr std::size_t places = 1200;
    constexpr std::size_t long_window = 600;
    tensor<double, seq, wide> operand(seq{places});
    tensor<double, seq, width, wide> weights(seq{places - long_window + 1}, width{long_window});
    weights.fill(1);
    const auto g = gradient(operand, [&](const auto& m) {
      return sum<seq, width, wide>(unroll<seq, width>(m, width{long_window}) * weights);
    });
    const std::size_t most = places - long_window + 1;  // 601 windows: longer sums than are added one after the other
    CHECK(g.data()[0] == 1);
    CHECK(g.data()[16 * 600] == static_cast<double>(most - 1));
    CHECK(g.data()[g.size() - 1] == 1);
  });
}

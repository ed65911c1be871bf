// SPDX-License-Identifier: BSL-1.0
// Elements that `where` or a mask discards contribute 0 to every gradient, whatever they are: a model with discarded
// rows of NaN, infinities and zeros has the gradients of one with ordinary numbers there.
#include "nodes.hpp"

#include <cmath>
#include <limits>

using namespace grad_tests;

namespace {

struct row : position_dim<> {};
struct features : feature_dim<32> {};
struct outputs : feature_dim<24> {};
struct classes : choice_dim<24> {};
struct keys : prime<row> {};

constexpr std::size_t rows_of_test = 20;

inline bool is_kept(std::size_t i) { return i % 4 != 3; }

template <class T>
struct data {
  using limits = std::numeric_limits<T>;
  tensor<T, row, features> x{row{rows_of_test}};
  tensor<T, row, features> other{row{rows_of_test}};
  tensor<T, features, outputs> w;
  tensor<T, features, classes> v;
  tensor<T, features> gain;

  explicit data(bool spoiled) {
    nn::random r(7);
    const auto draw = [&](auto& t) {
      auto* const to = t.overwrite();
      for (std::size_t i = 0; i < t.size(); ++i) { to[i] = static_cast<T>(0.75 + 0.2 * std::tanh(r.normal())); }
    };
    draw(x);
    draw(other);
    draw(w);
    draw(v);
    draw(gain);
    if (!spoiled) { return; }
    const T odd[] = {limits::quiet_NaN(), limits::infinity(), T(0), -limits::infinity(), T(-1)};
    for (std::size_t i = 0; i < rows_of_test; ++i) {
      for (std::size_t j = 0; !is_kept(i) && j < 32; ++j) {
        x.overwrite()[i * 32 + j] = odd[i / 4];
        other.overwrite()[i * 32 + j] = odd[(i / 4 + j) % 5];
      }
    }
  }
};

template <class T>
bool close(T a, T b) {  // b is finite
  return std::abs(a - b) <= 100 * std::numeric_limits<T>::epsilon() * (1 + std::abs(b));
}

// f(x, other, w, v, gain) is a loss that discards the rows that are not kept.
template <class T, class F>
void check_in(const char* what, const F& f) {
  INFO(std::string(what), ", bytes of a number: ", sizeof(T));
  const auto run = [&](bool spoiled) {
    const data<T> d(spoiled);
    return value_and_gradient(std::tuple(d.x, d.other, d.w, d.v, d.gain),
                              [&](const auto& m) { return std::apply(f, m); });
  };
  const auto clean = run(false);
  const auto spoiled = run(true);
  CHECK(close(spoiled.value, clean.value));
  for_each_parameter_of([&](const std::string& name, const auto& a, const auto& b) {
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      const bool discarded = (name == "0" || name == "1") && !is_kept(i / 32);
      if (discarded ? b.data()[i] != 0 || a.data()[i] != 0 : !close(b.data()[i], a.data()[i])) { ++wrong; }
    }
    INFO("parameter ", name);
    CHECK(wrong == 0);
  }, clean.gradient, spoiled.gradient);
}
// With a sanitizer in float alone: both types together compile for a minute, and run the same templates.
#if defined(__SANITIZE_ADDRESS__)
#define DISCARDS_IN_DOUBLE false
#elif defined(__has_feature)
#define DISCARDS_IN_DOUBLE !__has_feature(address_sanitizer)
#else
#define DISCARDS_IN_DOUBLE true
#endif
template <class F>
void check_discarded(const char* what, const F& f) {
  check_in<float>(what, f);
#if DISCARDS_IN_DOUBLE
  check_in<double>(what, f);
#endif
  const plain_loops only;
  check_in<float>(what, f);
}

tensor<bool, row> kept_rows() {
  tensor<bool, row> keep{row{rows_of_test}};
  for (std::size_t i = 0; i < rows_of_test; ++i) { keep.overwrite()[i] = is_kept(i); }
  return keep;
}
tensor<id<classes>, row> ids() {
  tensor<id<classes>, row> to{row{rows_of_test}};
  for (std::size_t i = 0; i < rows_of_test; ++i) { to.overwrite()[i] = id<classes>(i); }
  return to;
}
// The squares of what is kept: what arrives differs from element to element.
template <class Y>
auto kept_total(const Y& y) {
  const auto unmarked = detail::make_with_marks<detail::gradient_shape<Y>>(y);
  const tensor kept = where(kept_rows(), unmarked, 0);
  return total(square(kept), detail::dims_t<detail::shape_of<decltype(kept)>>{});
}

// Ordinary numbers where rows are discarded.
template <class Y>
auto kept_only(const Y& y) {
  return where(kept_rows(), y, 0.5F);
}

template <class Q, class K>
auto attention(const Q& q, const K& k) {
  return contract<keys>(softmax<keys>(scores<features>(q, k)), k);
}

struct user_function {
  template <class T>
  T operator()(T x) const {
    return 1 / x;
  }
  template <class T>
  T derivative(T x) const {
    return -1 / (x * x);
  }
};

#define CHECK_DISCARDED(...)                                                                        \
  check_discarded(#__VA_ARGS__,                                                                     \
                  [](const auto& x, [[maybe_unused]] const auto& y, [[maybe_unused]] const auto& w, \
                     [[maybe_unused]] const auto& v, [[maybe_unused]] const auto& gain) { return __VA_ARGS__; })

}  // namespace

TEST_CASE("discarded elements: arithmetic and functions") {
  CHECK_DISCARDED(kept_total(x * y));
  CHECK_DISCARDED(kept_total(x / y));
  CHECK_DISCARDED(kept_total(x * log(x)));
  CHECK_DISCARDED(kept_total(x * gain));
  CHECK_DISCARDED(kept_total(gain / x));
  CHECK_DISCARDED(kept_total(x / gain * y));
  CHECK_DISCARDED(kept_total(sqrt(x) + exp(y)));
  CHECK_DISCARDED(kept_total(x * std::numeric_limits<float>::max() / std::numeric_limits<float>::max()));
  CHECK_DISCARDED(kept_total(pow(x, y)));
  CHECK_DISCARDED(kept_total(max(x, y) * min(x, y) * clamp(x, 0.7F, 0.9F)));
  CHECK_DISCARDED(kept_total(tanh(x) * gelu(y) + silu(x) * gelu_tanh(y) + sigmoid(x) * erf(y) + softplus(x)));
  CHECK_DISCARDED(kept_total(sin(x) * cos(y) + abs(x) * square(y) + relu(x)));
  CHECK_DISCARDED(kept_total(map(user_function{}, x) * y));
}

TEST_CASE("discarded elements: rows and totals") {
  CHECK_DISCARDED(kept_total(standardize<features>(x)));
  CHECK_DISCARDED(kept_total(layer_norm<features>(x, gain, gain)));
  CHECK_DISCARDED(kept_total(rms_norm<features>(x, gain)));
  CHECK_DISCARDED(kept_total(renormalise<classes>(contract<features>(x, v))));
  CHECK_DISCARDED(kept_total(cumsum<row>(kept_only(x * y))));
  CHECK_DISCARDED(kept_total(cumprod<row>(kept_only(x * y))));
  CHECK_DISCARDED(kept_total(sort<features>(x * y)));
  CHECK_DISCARDED(kept_total(sum<features>(x * y)));
  CHECK_DISCARDED(kept_total(mean<features>(x / y)));
  CHECK_DISCARDED(kept_total(max<features>(x * y)));
  CHECK_DISCARDED(kept_total(prod<features>(x / y)));
  CHECK_DISCARDED(kept_total(min<features>(x * y)));
  CHECK_DISCARDED(sum<row>(sum<features>(x * y), allow(kept_rows())));
  CHECK_DISCARDED(mean<row>(mean<features>(x / y), allow(kept_rows())));
  CHECK_DISCARDED(max<row>(max<features>(x / y), allow(kept_rows())));
}

TEST_CASE("discarded elements: products") {
  CHECK_DISCARDED(kept_total(contract<features>(x, w)));
  CHECK_DISCARDED(kept_total(contract<features>(x, rename<row, keys>(kept_only(y)))));
  CHECK_DISCARDED(kept_total(contract<outputs>(relu(contract<features>(x, w)), w)));
  CHECK_DISCARDED(kept_total(contract<features>(rms_norm<features>(x, gain), w)));
  CHECK_DISCARDED(kept_total(softmax<classes>(contract<features>(x, v))));
  CHECK_DISCARDED(kept_total(log_softmax<classes>(contract<features>(x, v))));
  CHECK_DISCARDED(kept_total(logsumexp<classes>(contract<features>(x, v))));
}

TEST_CASE("discarded elements: losses") {
  CHECK_DISCARDED(mean_squared_error(x / y, x * y, allow(kept_rows())));
  CHECK_DISCARDED(binary_cross_entropy(x * y, detached(sigmoid(x)), allow(kept_rows())));
  CHECK_DISCARDED(binary_cross_entropy(x / y, x * x, allow(kept_rows())));
  CHECK_DISCARDED(cross_entropy<classes>(contract<features>(x * y, v), ids(), allow(kept_rows())));
  CHECK_DISCARDED(
      cross_entropy<classes>(contract<features>(x * y, v), ids(), allow(kept_rows()), label_smoothing{0.1}));
  CHECK_DISCARDED(
      kl_divergence<classes>(contract<features>(x * y, v), detached(contract<features>(x, v)), allow(kept_rows())));
  CHECK_DISCARDED(kl_divergence<classes>(contract<features>(x * y, v), contract<features>(x, v), allow(kept_rows())));
}

// A query that was discarded, in the fused kernel and without it.
TEST_CASE("discarded elements: queries of attention") {
  CHECK_DISCARDED(kept_total(attention(x, rename<row, keys>(kept_only(y)))));
  CHECK_DISCARDED(kept_total(tensor(attention(x, rename<row, keys>(kept_only(y))))));
  CHECK_DISCARDED(kept_total(tensor(
      contract<keys>(softmax<keys>(masked(scores<features>(x, rename<row, keys>(kept_only(y))), causal<row, keys>{})),
                     rename<row, keys>(kept_only(y))))));
}

TEST_CASE("discarded elements: a part of a row, and a target of weight 0") {
  const float inf = std::numeric_limits<float>::infinity();
  const auto check = [&] {
    tensor<float, features> x, y;
    x.fill(2.0F);
    y.fill(3.0F);
    x.set(inf, id<features>(5));
    tensor<bool, features> keep;
    keep.fill(true);
    keep.set(false, id<features>(5));
    const auto g = gradient(x, [&](const auto& m) { return sum<features>(where(keep, rms_norm<features>(m, y), 0)); });
    for (const float v : g.values()) { CHECK(v == 0); }  // an infinite row has norms of 0

    tensor<float, seq, classes> logits(seq{2});
    logits.fill(1.0F);
    logits.set(std::numeric_limits<float>::quiet_NaN(), id<seq>(0), id<classes>(1));
    const tensor<id<classes>, seq> next({id<classes>(3), id<classes>(4)}, seq{2});
    tensor<float, classes> weights;
    weights.fill(1.0F);
    weights.set(0.0F, id<classes>(3));
    const auto [loss, d] = value_and_gradient(
        logits, [&](const auto& m) { return cross_entropy<classes>(m, next, class_weights(weights)); });
    CHECK(loss == doctest::Approx(std::log(24.0)));
    for (std::size_t i = 0; i < 24; ++i) { CHECK(d.data()[i] == 0); }
    CHECK(d.data()[24] == doctest::Approx(1 / 24.0));
  };
  check();
  const plain_loops only;
  check();
}

TEST_CASE("what is not discarded is NaN in the gradient, too") {
  const auto check = [](const auto& f) {
    const auto run = [&] {
      data<float> d(false);
      d.x.overwrite()[0] = std::numeric_limits<float>::quiet_NaN();
      d.w.overwrite()[0] = std::numeric_limits<float>::quiet_NaN();
      const auto all = value_and_gradient(std::tuple(d.x, d.w), [&](const auto& m) { return std::apply(f, m); });
      CHECK(std::isnan(all.value));
      CHECK(std::isnan(std::get<0>(all.gradient).data()[1]));
    };
    run();
    const plain_loops only;
    run();
  };
  check([](const auto& x, const auto& w) { return kept_total(contract<features>(x, w)); });
  check([](const auto& x, const auto&) { return kept_total(standardize<features>(x)); });
  check([](const auto& x, const auto&) {
    return kept_total(tensor(attention(x, rename<row, keys>(kept_only(x * 0.0F + 1.0F)))));
  });
}

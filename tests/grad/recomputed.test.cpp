// SPDX-License-Identifier: BSL-1.0
// A layer that is recomputed in the backward pass has the same gradient; dropout leaves out by its seed, and never in
// inference.
#include "nodes.hpp"
#include <dimwise/nn.hpp>

#include <algorithm>

using namespace grad_tests;

namespace {

using own = nn::self_attention<seq, key, nn::multi_head_attention<d_model, heads, d_k, d_v>>;
using feed = nn::feed_forward<d_model, hidden, nn::activation::gelu>;
using encoder = nn::encoder_layer<own, feed, nn::layer_norm<d_model>, nn::pre_norm>;

// A layer that counts how often it is computed, and leaves out by chance.
template <class T = double>
struct noisy {
  using weight_type = tensor<T, d_model, out<d_model>>;
  BOOST_HANA_DEFINE_STRUCT(noisy, (weight_type, weight));
  static inline int calls = 0;
  template <operand X>
  auto operator()(const X& x) const {
    ++calls;
    return tensor(nn::dropout{0.5}(tanh(contract<d_model>(x, weight))));
  }
};

template <class M>
bool same(const M& a, const M& b) {
  bool all = true;
  for_each_parameter_of([&](const std::string&, const auto& p, const auto& q) {
    all = all && std::equal(p.data(), p.data() + p.size(), q.data());
  }, a, b);
  return all;
}

}  // namespace

TEST_CASE("recomputed: the same value and gradient, to the bit") {
  const auto x = some<batch, seq, d_model>(1, batch{2}, seq{3});
  const auto layer = converted<double>(nn::initialised<encoder>(nn::normal(3, 0.5)));
  const auto kept = [](const auto& m) {
    const auto& [l, y] = m;
    return mean_squared_error(l(tensor(y * 2.0), causal<seq, key>{}), some<batch, seq, d_model>(2, batch{2}, seq{3}));
  };
  const auto again = [](const auto& m) {
    const auto& [l, y] = m;
    return mean_squared_error(recomputed(l, y * 2.0, causal<seq, key>{}),
                              some<batch, seq, d_model>(2, batch{2}, seq{3}));
  };
  const auto a = value_and_gradient(std::tuple(layer, x), kept);
  const auto b = value_and_gradient(std::tuple(layer, x), again);
  CHECK(a.value == b.value);
  CHECK(same(a.gradient, b.gradient));
  CHECK(norm_of(b.gradient) > 0);
  const tensor plain_value = recomputed(layer, x, causal<seq, key>{});
  static_assert(!detail::is_tracked<decltype(plain_value)>);
}

TEST_CASE("recomputed: attention by a kernel of floats, to the bit") {
  const tensor<float, batch, seq, d_model> x =
      map([](double v) { return static_cast<float>(v); }, some<batch, seq, d_model>(1, batch{2}, seq{9}));
  const auto layer = nn::initialised<encoder>(nn::normal(3, 0.5));
  const auto loss = [&](const auto& f) {
    return value_and_gradient(std::tuple(layer, x), [&](const auto& m) {
      const auto& [l, y] = m;
      return mean<batch, seq, d_model>(square(f(l, f(l, y))));
    });
  };
  const auto a = loss([](const auto& l, const auto& y) { return tensor(l(y, causal<seq, key>{})); });
  const auto b = loss([](const auto& l, const auto& y) { return recomputed(l, y, causal<seq, key>{}); });
  CHECK(a.value == b.value);
  CHECK(same(a.gradient, b.gradient));
}

TEST_CASE("recomputed twice over, within each other, and of what is tracked in one place only") {
  const auto x = some<batch, seq, d_model>(1, batch{2}, seq{3});
  const auto layer = converted<double>(nn::initialised<encoder>(nn::normal(3, 0.5)));
  const auto loss = [&](const auto& m, const auto& f) { return mean<batch, seq, d_model>(square(f(f(x, m), m))); };
  const auto kept = gradient(
      layer, [&](const auto& m) { return loss(m, [](const auto& y, const auto& l) { return tensor(l(y)); }); });
  const auto again = gradient(
      layer, [&](const auto& m) { return loss(m, [](const auto& y, const auto& l) { return recomputed(l, y); }); });
  CHECK(same(kept, again));
  const auto by_input =
      gradient(x, [&](const auto& y) { return mean<batch, seq, d_model>(square(recomputed(layer, y))); });
  const auto by_input_kept = gradient(x, [&](const auto& y) { return mean<batch, seq, d_model>(square(layer(y))); });
  CHECK(same(by_input, by_input_kept));
}

TEST_CASE("recomputed: a layer that captured tracked tensors is refused, one that captured constants is not") {
  const auto x = some<d_model>(1);
  const auto w = some<d_model>(2);
  const auto captured = [&](const auto& m) {
    const auto& other = std::get<1>(m);
    return sum<d_model>(recomputed([&other](const auto& y) { return tanh(y * other); }, std::get<0>(m)));
  };
  CHECK_THROWS_WITH_AS(static_cast<void>(gradient(std::tuple(x, w), captured)),
                       doctest::Contains("the layer captured tracked tensors"), gradient_error);
  const auto g =
      gradient(x, [&](const auto& m) { return sum<d_model>(recomputed([&](const auto& y) { return y * w; }, m)); });
  CHECK(same(g, w));
}

TEST_CASE("check_gradient refuses a dropout that leaves out: differences know none") {
  const auto x = some<d_model>(1);
  const auto loss_of = [](double probability) {
    return [probability](const auto& m) {
      const nn::dropout_seed now(3);
      return sum<d_model>(square(nn::dropout{probability}(m)));
    };
  };
  CHECK_THROWS_WITH_AS(static_cast<void>(check_gradient(x, loss_of(0.5))), doctest::Contains("dropout"),
                       gradient_error);
  CHECK(check_gradient(x, loss_of(0)).error < 1e-8);
}

TEST_CASE("dropout: nothing in inference, by the seed in training, the same again if it is recomputed") {
  const auto x = some<batch, seq, d_model>(1, batch{20}, seq{30});
  CHECK(same(nn::dropout{0.1}(x), x));
  const auto drop = [](const auto& m) { return mean<batch, seq, d_model>(nn::dropout{0.25}(m)); };
  CHECK_THROWS_AS(static_cast<void>(gradient(x, drop)), gradient_error);
  const auto kept = gradient(x, [](const auto& m) { return sum<batch, seq, d_model>(nn::dropout{0}(m)); });  // no seed
  CHECK(std::count(kept.data(), kept.data() + kept.size(), 1.0) == static_cast<std::ptrdiff_t>(kept.size()));
  const auto by = [&](std::uint64_t seed) {
    const nn::dropout_seed now(seed);
    return gradient(x, drop);
  };
  const auto g = by(1);
  CHECK(same(g, by(1)));
  CHECK(!same(g, by(2)));
  const auto dropped =
      static_cast<double>(std::count(g.data(), g.data() + g.size(), 0.0)) / static_cast<double>(g.size());
  CHECK(dropped > 0.22);
  CHECK(dropped < 0.28);
  for (std::size_t i = 0; i < g.size(); ++i) {
    CHECK((g.data()[i] == 0 || g.data()[i] == doctest::Approx(1 / 0.75 / static_cast<double>(g.size()))));
  }
  CHECK_THROWS_AS(static_cast<void>([&] {
    const nn::dropout_seed now(1);
    return gradient(x, [](const auto& m) { return mean<batch, seq, d_model>(nn::dropout{1.0}(m)); });
  }()),
                  number_error);
}

TEST_CASE("recomputed: dropouts leave out what they left out before") {
  const auto x = some<batch, seq, d_model>(1, batch{2}, seq{3});
  const noisy<> layer{some<d_model, out<d_model>>(2)};
  const auto run = [&](const auto& f) {
    const nn::dropout_seed now(7);
    return value_and_gradient(std::tuple(layer, x), [&](const auto& m) {
      const auto& [l, y] = m;
      return mean<batch, seq, d_model>(square(f(l, f(l, y))));
    });
  };
  const auto kept = run([](const auto& l, const auto& y) { return l(y); });
  noisy<tracked<double>>::calls = 0;
  const auto again = run([](const auto& l, const auto& y) { return recomputed(l, y); });
  CHECK(noisy<tracked<double>>::calls == 4);
  CHECK(kept.value == again.value);
  CHECK(same(kept.gradient, again.gradient));
}

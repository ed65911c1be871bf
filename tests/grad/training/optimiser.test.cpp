// SPDX-License-Identifier: BSL-1.0
// Optimisers against loops written out, their state saved and resumed, the kinds that decay, schedules, and batches.
#include "grad/nodes.hpp"
#include <dimwise/nn.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

using namespace grad_tests;

namespace {

using layer = nn::linear<nn::from<d_model>, nn::to<hidden>>;
template <class T = float>
struct model_of {
  using table_type = tensor<T, vocab, d_model>;
  using layers_type = rebind<T, std::vector<layer>>;
  using norm_type = rebind<T, nn::layer_norm<hidden>>;
  using scale_type = tensor<T, hidden>;
  BOOST_HANA_DEFINE_STRUCT(model_of, (table_type, words), (layers_type, layers), (norm_type, norm),
                           (scale_type, scale));
};
using model_type = model_of<>;

model_type model_drawn(std::uint64_t seed) {
  model_type m;
  m.layers.resize(2);
  nn::normal how(seed, 0.5);
  nn::initialise(m, how, vocab{5});
  return m;
}
template <class M>
bool same(const M& a, const M& b) {
  bool all = true;
  for_each_parameter_of([&](const std::string&, const auto& p, const auto& q) {
    all = all && std::equal(p.data(), p.data() + p.size(), q.data());
  }, a, b);
  return all;
}

using numbers = tensor<double, d_model>;

}  // namespace

TEST_CASE("weights decay; biases, norms, and what scales do not") {
  const auto m = model_drawn(1);
  std::vector<std::string> names;
  for_each_parameter_of([&](const std::string& name, const auto&) { names.push_back(name); }, m);
  const auto decayed = detail::decayed_among(detail::parameter_list(m), {});
  REQUIRE(names.size() == decayed.size());
  std::vector<std::string> chosen;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (decayed[i]) { chosen.push_back(names[i]); }
  }
  CHECK(chosen == std::vector<std::string>{"words", "layers.0.weight", "layers.1.weight"});
  using heads_layer = nn::linear<nn::from<d_model>, nn::to<heads, d_k>>;  // a bias of two dimensions
  static_assert(is_decayed<heads_layer, heads_layer::weight_type> && !is_decayed<heads_layer, heads_layer::bias_type>);
  const auto by_name =
      detail::decayed_among(detail::parameter_list(m), [](const std::string& n) { return n == "scale"; });
  CHECK(std::count(by_name.begin(), by_name.end(), true) == 1);
}

TEST_CASE("sgd, with momentum, dampening, Nesterov's slope and decay") {
  const auto start = some<d_model>(1);
  const auto g1 = some<d_model>(2);
  const auto g2 = some<d_model>(3);
  const auto all = [](const std::string&) { return true; };
  for (const bool nesterov : {false, true}) {
    numbers p = start;
    sgd optimiser(
        p, {.rate = 0.1, .momentum = 0.9, .dampening = 0.5, .nesterov = nesterov, .weight_decay = 0.2, .decayed = all});
    optimiser.step(p, g1);
    optimiser.step(p, g2);
    for (std::size_t i = 0; i < p.size(); ++i) {
      double x = start.data()[i];
      double v = g1.data()[i] + 0.2 * x;
      x -= 0.1 * (nesterov ? v + 0.9 * v : v);
      const double slope = g2.data()[i] + 0.2 * x;
      v = 0.9 * v + 0.5 * slope;
      x -= 0.1 * (nesterov ? slope + 0.9 * v : v);
      CHECK(p.data()[i] == doctest::Approx(x).epsilon(1e-13));
    }
    CHECK(std::int64_t(optimiser.state.step) == 2);
  }
}

TEST_CASE("adam adds the decay to the gradient, adamw leaves it out of the moments") {
  const auto start = some<d_model>(1);
  const numbers g[] = {some<d_model>(2), some<d_model>(3), some<d_model>(4)};
  const auto all = [](const std::string&) { return true; };
  const auto check = [&](auto&& optimiser, bool decoupled) {
    numbers p = start;
    for (const auto& one : g) { optimiser.step(p, one); }
    for (std::size_t i = 0; i < p.size(); ++i) {
      double x = start.data()[i];
      double m = 0;
      double v = 0;
      for (int t = 1; t <= 3; ++t) {
        double slope = g[t - 1].data()[i];
        if (decoupled) {
          x -= 0.02 * 0.3 * x;
        } else {
          slope += 0.3 * x;
        }
        m = 0.8 * m + 0.2 * slope;
        v = 0.95 * v + 0.05 * slope * slope;
        x -= 0.02 * (m / (1 - std::pow(0.8, t))) / (std::sqrt(v / (1 - std::pow(0.95, t))) + 1e-3);
      }
      CHECK(p.data()[i] == doctest::Approx(x).epsilon(1e-12));
    }
  };
  const auto settings = [&]<class Settings>(Settings) {
    return Settings{.rate = 0.02, .beta1 = 0.8, .beta2 = 0.95, .epsilon = 1e-3, .weight_decay = 0.3, .decayed = all};
  };
  check(adam(start, settings(adam_settings())), false);
  check(adamw(start, settings(adamw_settings())), true);
  CHECK(adam(start, {.rate = 0.1}).settings.weight_decay == 0);
  CHECK(adamw(start, {.rate = 0.1}).settings.weight_decay == 0.01);
}

TEST_CASE("a state that was copied goes on as the one that was not interrupted, to the bit") {
  auto straight = model_drawn(1);
  auto resumed = straight;
  adamw whole(straight, {.rate = warm_up_cosine{.peak = 0.1, .warm_up = 2, .steps = 8}, .weight_decay = 0.1});
  adamw first_half(resumed, whole.settings);
  const auto loss = [](const auto& m) {
    return mean<vocab, hidden>(square(m.norm(tanh(m.layers[0](m.words))) * m.scale + m.layers[1](m.words)));
  };
  for (int i = 0; i < 4; ++i) { whole.step(straight, gradient(straight, loss)); }
  for (int i = 0; i < 4; ++i) { first_half.step(resumed, gradient(resumed, loss)); }
  const adam_state<model_type> stored = first_half.state;
  adamw second_half(resumed, whole.settings);
  second_half.state = stored;
  for (int i = 0; i < 4; ++i) { whole.step(straight, gradient(straight, loss)); }
  for (int i = 0; i < 4; ++i) { second_half.step(resumed, gradient(resumed, loss)); }
  CHECK(same(straight, resumed));
  CHECK(same(whole.state.second, second_half.state.second));
  CHECK(std::int64_t(second_half.state.step) == 8);
  CHECK(!same(straight, model_drawn(1)));
}

TEST_CASE("a gradient of other extents is refused before anything moves") {
  auto m = model_drawn(1);
  const auto before = m;
  auto g = m;
  g.words = drawn<tensor<float, vocab, d_model>>(1, vocab{4});
  adamw optimiser(m, {.rate = 0.1});
  CHECK_THROWS_AS(optimiser.step(m, g), extent_error);
  CHECK(same(m, before));
  CHECK(std::int64_t(optimiser.state.step) == 0);
  optimiser.state.step = tensor<std::int64_t>(-1);
  CHECK_THROWS_AS(optimiser.step(m, m), number_error);
  CHECK(same(m, before));
  optimiser.state.step = tensor<std::int64_t>(0);
  g = m;
  g.layers.resize(1);
  CHECK_THROWS_AS(optimiser.step(m, g), extent_error);
  CHECK(same(m, before));
}

TEST_CASE("clip_norm: one norm of all parameters") {
  const auto m = model_drawn(1);
  double squares = 0;
  for_each_parameter_of([&](const std::string&, const auto& p) {
    for (std::size_t i = 0; i < p.size(); ++i) { squares += double(p.data()[i]) * double(p.data()[i]); }
  }, m);
  CHECK(norm_of(m) == doctest::Approx(std::sqrt(squares)));
  CHECK(same(clip_norm(m, 2 * norm_of(m)), m));
  const auto clipped = clip_norm(m, 0.5);
  CHECK(norm_of(clipped) == doctest::Approx(0.5 * norm_of(m) / (norm_of(m) + 1e-6)).epsilon(1e-6));
  CHECK(clipped.scale.data()[0] == doctest::Approx(m.scale.data()[0] * 0.5 / norm_of(m)).epsilon(1e-5));
}

TEST_CASE("settings that would not train are refused before anything moves") {
  const tensor<double, seq> start(std::vector{1.0, 2.0}, seq{2});
  const auto moved_by = [&](auto optimiser) {
    auto p = start;
    CHECK_THROWS_AS(optimiser.step(p, start), number_error);
    CHECK(std::equal(p.data(), p.data() + 2, start.data()));
  };
  const double no_number = std::numeric_limits<double>::quiet_NaN();
  moved_by(sgd(start, {.rate = -1}));
  moved_by(sgd(start, {.rate = no_number}));
  const double infinite = std::numeric_limits<double>::infinity();
  moved_by(sgd(start, {.rate = infinite}));
  moved_by(sgd(start, {.momentum = -0.5}));
  moved_by(sgd(start, {.momentum = 1}));
  moved_by(sgd(start, {.momentum = 0.5, .dampening = no_number}));
  moved_by(sgd(start, {.momentum = 0.5, .dampening = -0.1}));
  moved_by(sgd(start, {.momentum = 0.5, .dampening = 1.1}));
  moved_by(sgd(start, {.weight_decay = infinite}));
  moved_by(adam(start, {.rate = infinite}));
  moved_by(adam(start, {.epsilon = 0}));  // 0 / 0 where the gradient is 0
  moved_by(adam(start, {.beta1 = 1}));
  moved_by(adam(start, {.beta2 = no_number}));
  moved_by(adamw(start, {.epsilon = -1}));
  moved_by(adamw(start, {.weight_decay = -1}));
  moved_by(adamw(start, {.rate = warm_up_cosine{.peak = 1}}));
  CHECK_THROWS_AS(static_cast<void>(clip_norm(start, -1)), number_error);
  CHECK_THROWS_AS(static_cast<void>(clip_norm(start, no_number)), number_error);
  CHECK(norm_of(clip_norm(start, 0)) == 0);
}

TEST_CASE("clip_norm of zeros is zeros, for every limit") {
  const auto clipped = [](auto zeros) {
    for (const double limit : {0.0, 1e-320, 1e-50, 1e-7, 1.0}) {
      CAPTURE(limit);
      CHECK(norm_of(clip_norm(zeros, limit)) == 0);
    }
  };
  clipped(tensor<float, seq>(seq{3}));
  clipped(tensor<double, seq>(seq{3}));
}

TEST_CASE("a gradient and a state of other extents are named, and nothing moves") {
  const tensor<double, seq> start(std::vector{1.0, 2.0}, seq{2});
  const tensor<double, seq> longer(std::vector{1.0, 2.0, 3.0}, seq{3});
  const auto told = [&](auto optimiser, const auto& gradient) {
    auto p = start;
    std::string said;
    try {
      optimiser.step(p, gradient);
    } catch (const extent_error& problem) { said = problem.what(); }
    CHECK(std::equal(p.data(), p.data() + 2, start.data()));
    return said;
  };
  CHECK(told(sgd(start), longer) == "sgd: the parameter has extent 2 of seq, the gradient has 3 (R15)");
  CHECK(told(adam(start), longer) == "adam: the parameter has extent 2 of seq, the gradient has 3 (R15)");
  adamw first(start);
  first.state.first = longer;
  CHECK(told(first, start) == "adamw: the parameter has extent 2 of seq, the first moment has 3 (R15)");
  adamw second(start);
  second.state.second = longer;
  CHECK(told(second, start) == "adamw: the parameter has extent 2 of seq, the second moment has 3 (R15)");
}

TEST_CASE("schedules") {
  const warm_up_cosine rate{.peak = 0.02, .warm_up = 3, .steps = 10, .min_rate = 0.002};
  const double expected[] = {0.006666666666666667, 0.013333333333333334, 0.02,
                             0.020000000000000004, 0.01910871981112177,  0.016611408216728605,
                             0.013002688405606831, 0.008997311594393171, 0.005388591783271399,
                             0.0028912801888782286};
  for (std::uint64_t i = 0; i < 10; ++i) { CHECK(rate(i) == doctest::Approx(expected[i]).epsilon(1e-14)); }
  CHECK(rate(10) == 0.002);
  CHECK(warm_up_cosine{.peak = 1, .warm_up = 50, .steps = 6}(5) == 6.0 / 50);  // a first try of a few steps
  const linear_rate down{1.0, 0.5, 4};
  CHECK(down(0) == 1.0);
  CHECK(down(2) == 0.75);
  CHECK(down(9) == 0.5);
  CHECK(learning_rate(0.1)(7) == 0.1);
  CHECK(learning_rate([](std::uint64_t step) { return 1.0 / double(step + 1); })(3) == 0.25);
}

TEST_CASE("batches weigh by what they count") {
  const auto logits = some<batch, seq, vocab>(1, batch{2}, seq{3}, vocab{5});
  const tensor<id<vocab>, batch, seq> ids(std::vector{1, 4, 1, 0, 2, 1}, batch{2}, seq{3});
  const tensor<int, batch> lengths({1, 3}, batch{2});
  const auto w = some<vocab, out<vocab>>(2, vocab{5}, out<vocab>{5});
  const auto loss_of = [](const auto& m, const auto& x, const auto& y, const auto& l) {
    return cross_entropy<vocab>(contract<vocab>(x, m), y, padding<seq>(l));
  };
  const auto whole = value_and_gradient(w, [&](const auto& m) { return loss_of(m, logits, ids, lengths); });
  accumulated total(w);
  for (const std::size_t i : {0, 1}) {
    const tensor x = slice<batch>(logits, i, 1);
    const tensor y = slice<batch>(ids, i, 1);
    const tensor l = slice<batch>(lengths, i, 1);
    total.add([&](const auto& m) { return loss_of(m, x, y, l); });
  }
  const auto [value, g] = total.mean();
  CHECK(total.count() == 4);
  CHECK(value == doctest::Approx(whole.value).epsilon(1e-14));
  for (std::size_t i = 0; i < g.size(); ++i) {
    CHECK(g.data()[i] == doctest::Approx(whole.gradient.data()[i]).epsilon(1e-12));
  }
  CHECK(norm_of(accumulated(w).mean().gradient) == 0);
}

// tests/nn/rotary_scaling.test.cpp -- rotary scalings, partial rotation, given positions and angles.
//
// Against loops in double, and against torch's numbers. SPDX-License-Identifier: BSL-1.0
#include "support/numbers.hpp"
#include "support/pack.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace {

using namespace dimwise;
using namespace dimwise_test;

struct batch : batch_dim<> {};
struct heads : heads_dim<> {};
struct seq : position_dim<> {};
struct d_k : feature_dim<> {};
struct pairs : feature_dim<> {};
struct place : choice_dim<> {};

const pack& torch() {
  static const pack data{data_file("torch.dwpack")};
  return data;
}

rotary_options options_of(const nlohmann::json& config) {
  rotary_options options;
  options.base = config.at("theta").get<double>();
  if (config.at("style") == "interleaved") { options.pairs = rotary_pairs::interleaved; }
  const auto& scaling = config.at("scaling");
  if (scaling == "linear") { options.scaling = linear_scaling{4}; }
  if (scaling == "ntk") { options.scaling = ntk_scaling{4}; }
  if (scaling == "yarn") { options.scaling = yarn_scaling{.factor = 4}; }
  if (scaling == "llama3") { options.scaling = llama3_scaling{}; }
  if (config.at("rotary_dim") != config.at("head_dim")) {
    options.features = config.at("rotary_dim").get<std::size_t>();
  }
  return options;
}

double turned(const tensor<float, batch, seq, heads, d_k>& x, std::size_t b, std::size_t s, std::size_t h,
              std::size_t d, std::size_t n, double angle, bool split) {
  if (d >= n) { return el(x, b, s, h, d); }
  const std::size_t half = n / 2;
  const bool first = split ? d < half : d % 2 == 0;
  const std::size_t other = split ? (first ? d + half : d - half) : (first ? d + 1 : d - 1);
  return el(x, b, s, h, d) * std::cos(angle) + (first ? -1.0 : 1.0) * el(x, b, s, h, other) * std::sin(angle);
}

}  // namespace

TEST_CASE("rotary: every scaling gives torch's frequencies and features") {
  std::size_t cases = 0;
  for (const auto& entry : torch().cases()) {
    const auto name = entry.at("name").get<std::string>();
    if (name.rfind("rope_", 0) != 0) { continue; }
    CAPTURE(name);
    ++cases;
    const auto& config = entry.at("config");
    const rotary_options options = options_of(config);
    CHECK(rotary_attention(options) == doctest::Approx(config.at("attention_factor").get<double>()).epsilon(1e-14));

    const auto expected_frequencies = torch().at(name + "/output_f64.inv_freq").as<double>();
    const auto frequencies = rotary_frequencies(pairs{expected_frequencies.size()}, options);
    for (std::size_t i = 0; i < expected_frequencies.size(); ++i) {
      CHECK(frequencies(id<pairs>(i)) == doctest::Approx(expected_frequencies[i]).epsilon(1e-13));
    }

    const auto& x_data = torch().at(name + "/input.x");
    const auto positions = torch().at(name + "/input.positions").converted<std::int64_t>();
    const auto extents = [&](std::size_t i) { return x_data.shape.at(i); };
    const tensor<float, batch, heads, seq, d_k> x(
        x_data.as<float>(), batch{extents(0)}, heads{extents(1)},
        starting_at(seq{extents(2)}, static_cast<std::ptrdiff_t>(positions[0])), d_k{extents(3)});
    const auto wanted = torch().at(name + "/output_f64.y").as<double>();
    const auto expect = [&](auto b, auto h, auto s, auto d) {
      return wanted[((b * extents(1) + h) * extents(2) + s) * extents(3) + d];
    };
    const std::size_t sizes[] = {extents(0), extents(1), extents(2), extents(3)};
    // Positions given by a tensor are the same thing, and serve where they do not follow one another.
    const tensor<std::int64_t, seq> told(positions, seq{extents(2)});
    const auto y = rotary<seq, d_k>(x, told, options);
    CHECK(agrees(y, sizes, 8, expect) == "");
    if (positions.back() - positions.front() + 1 == static_cast<std::int64_t>(positions.size())) {
      CHECK(agrees(rotary<seq, d_k>(x, options), sizes, 8, expect) == "");
    }
  }
  CHECK(cases == 8);
}

// Numbers of HuggingFace's formula, computed in Python.
TEST_CASE("rotary: the ramp of YaRN is between whole pairs unless it is said otherwise") {
  yarn_scaling yarn{.factor = 4, .trained = 64};
  const double whole[] = {1, 0.23717082451262847, 0.05, 0.007905694150420948, 0.0025};
  const double between[] = {1, 0.19858352015369318, 0.02559524589192421, 0.007905694150420948, 0.0025};
  for (std::size_t i = 0; i < 5; ++i) {
    yarn.whole_pairs = true;
    CHECK(rotary_frequency(i, 16, {.scaling = yarn}) == doctest::Approx(whole[i]).epsilon(1e-13));
    yarn.whole_pairs = false;
    CHECK(rotary_frequency(i, 16, {.scaling = yarn}) == doctest::Approx(between[i]).epsilon(1e-13));
  }
}

TEST_CASE("rotary: the ramp of YaRN ends at whole pairs, within the features, and never has the length 0") {
  const auto angle = [](std::size_t pair, std::size_t features, double base, const yarn_scaling& yarn) {
    return rotary_frequency(pair, features, {.base = base, .scaling = yarn});
  };
  // From pair 10.47, rounded down, to pair 22.5, rounded up.
  const yarn_scaling usual{.factor = 4, .trained = 4096};
  CHECK(angle(11, 64, 10000, usual) == doctest::Approx(0.039736785900001015).epsilon(1e-13));
  CHECK(angle(22, 64, 10000, usual) == doctest::Approx(0.0005471628953965916).epsilon(1e-13));
  // To pair 9 of 8 features: to 7.
  const yarn_scaling far{.factor = 4, .trained = 100000, .fast = 5000};
  CHECK(angle(2, 8, 100, far) == doctest::Approx(0.0875).epsilon(1e-13));
  CHECK(angle(3, 8, 100, far) == doctest::Approx(0.023717082451262847).epsilon(1e-13));
  // From and to pair 0.
  const yarn_scaling near{.factor = 4, .trained = 6};
  CHECK(angle(0, 16, 10000, near) == 1);
  CHECK(angle(1, 16, 10000, near) == doctest::Approx(0.07905694150420949).epsilon(1e-13));
}

TEST_CASE("rotary: a position for each sequence, in every order of dimensions") {
  const auto x = drawn<tensor<float, batch, seq, heads, d_k>>(1, batch{2}, seq{3}, heads{2}, d_k{6});
  const tensor<int, batch, seq> at({0, 1, 2, 40, 7, 1}, batch{2}, seq{3});
  for (const bool split : {true, false}) {
    rotary_options options;
    options.pairs = split ? rotary_pairs::half_split : rotary_pairs::interleaved;
    options.features = 4;
    const auto expected = [&](auto b, auto s, auto h, auto d) {
      const std::size_t pair = split ? d % 2 : d / 2;
      return turned(x, b, s, h, d, 4, el(at, b, s) * std::pow(10000.0, -2.0 * static_cast<double>(pair) / 4), split);
    };
    CHECK(agrees(rotary<seq, d_k>(x, at, options), {2, 3, 2, 6}, 8, expected) == "");
    const tensor<float, d_k, heads, batch, seq> other = x;
    const tensor<int, seq, batch> at_other = at;
    CHECK(agrees(rotary<seq, d_k>(other, at_other, options), {6, 2, 2, 3}, 8,
                 [&](auto d, auto h, auto b, auto s) { return expected(b, s, h, d); }) == "");
  }
}

TEST_CASE("rotary: by given cosines and sines, rows of a cache by their ids") {
  const auto x = drawn<tensor<float, batch, seq, heads, d_k>>(2, batch{2}, seq{3}, heads{2}, d_k{6});
  const auto cosines = drawn<tensor<float, place, pairs>>(3, place{9}, pairs{2});
  const auto sines = drawn<tensor<float, pairs, place>>(4, pairs{2}, place{9});
  const auto ids = drawn_ids<tensor<id<place>, batch, seq>>(5, 9, batch{2}, seq{3});
  const auto expected = [&](bool split) {
    return [&, split](auto b, auto s, auto h, auto d) -> double {
      if (d >= 4) { return el(x, b, s, h, d); }
      const std::size_t pair = split ? d % 2 : d / 2;
      const bool first = split ? d < 2 : d % 2 == 0;
      const std::size_t other = split ? (first ? d + 2 : d - 2) : (first ? d + 1 : d - 1);
      const std::size_t row = el(ids, b, s).value;
      return double{el(x, b, s, h, d)} * el(cosines, row, pair) +
             (first ? -1.0 : 1.0) * el(x, b, s, h, other) * el(sines, pair, row);
    };
  };
  CHECK(agrees(rotary<seq, d_k>(x, gather<place>(cosines, ids), gather<place>(sines, ids)), {2, 3, 2, 6}, 4,
               expected(true)) == "");
  CHECK(agrees(rotary<seq, d_k>(x, gather<place>(cosines, ids), gather<place>(sines, ids), rotary_pairs::interleaved),
               {2, 3, 2, 6}, 4, expected(false)) == "");
}

TEST_CASE("rotary: bases and factors that give no angle") {
  const auto x = drawn<tensor<float, seq, d_k>>(1, seq{2}, d_k{4});
  const double no_number = std::nan("");
  const auto refused = [&](const rotary_options& how) {
    CHECK_THROWS_AS(static_cast<void>(evaluate(rotary<seq, d_k>(x, how))), number_error);
    CHECK_THROWS_AS(static_cast<void>(reference(rotary<seq, d_k>(x, how))), number_error);
  };
  for (const double base : {0.0, -1.0, no_number}) { refused({.base = base}); }
  refused({.scaling = linear_scaling{1e-320}});
  for (const double factor : {0.0, -2.0, no_number}) {
    refused({.scaling = linear_scaling{factor}});
    refused({.scaling = llama3_scaling{.factor = factor}});
  }
}

TEST_CASE("rotary: what it throws") {
  const auto x = drawn<tensor<float, seq, d_k>>(6, seq{3}, d_k{6});
  const auto with = [](std::size_t features) {
    rotary_options options;
    options.features = features;
    return options;
  };
  CHECK(thrown<extent_error>([&] { (void)rotary<seq, d_k>(x, with(8)); }) ==
        "rotary: 8 features of dimension d_k of extent 6 are to be turned; it takes an even number of those that there "
        "are (R9)");
  CHECK(thrown<extent_error>([&] { (void)rotary<seq, d_k>(x, with(3)); }) ==
        "rotary: 3 features of dimension d_k of extent 6 are to be turned; it takes an even number of those that there "
        "are (R9)");
  CHECK(thrown<extent_error>([&] { (void)rotary<seq, d_k>(x, tensor<int, seq>(seq{4})); }) ==
        "rotary: dimension seq has extent 3 in one operand and 4 in another (R15)");
  const tensor<float, seq, pairs> angles(seq{3}, pairs{4});
  CHECK(thrown<extent_error>([&] { (void)rotary<seq, d_k>(x, angles, angles); }) ==
        "rotary: 8 features of dimension d_k of extent 6 are to be turned; it takes an even number of those that there "
        "are (R9)");
}

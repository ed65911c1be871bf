// tests/nn/parameters.test.cpp -- parameters by name, and how they are drawn.
// SPDX-License-Identifier: BSL-1.0
#include "modules.hpp"
#include <dimwise/nn/hana.hpp>

#include <doctest/doctest.h>

#include <cmath>

namespace modules {

struct width : feature_dim<> {};

using attention = nn::multi_head_attention<d_model, heads, d_k, d_v>;
using layer = nn::encoder_layer<nn::self_attention<seq, key, attention>, nn::feed_forward<d_model, width>,
                                nn::layer_norm<d_model>>;

TEST_CASE("parameters have the names of their modules") {
  auto all = nn::stack<layer>::of(2);
  nn::xavier_uniform how(1);
  nn::initialise(all, how, width{5});
  std::vector<std::string> names;
  std::size_t elements = 0;
  nn::for_each_parameter(all, [&](const std::string& name, const auto& t) {
    names.push_back(name);
    elements += t.size();
  });
  CHECK(names.size() == 2 * 16);
  CHECK(names.front() == "layers.0.attention.query.weight");
  CHECK(names[9] == "layers.0.feed_forward.up.bias");
  CHECK(names.back() == "layers.1.norm2.beta");
  CHECK(elements == nn::parameter_count(all));
  CHECK(elements == 2 * (2 * (8 * 8 + 8) + (8 * 6 + 6) + (6 * 8 + 8) + (8 * 5 + 5) + (5 * 8 + 8) + 4 * 8));
}

template <class T>
struct listed {
  nn::linear<nn::from<width>, nn::to<hidden>, nn::with_bias, T> layer{};
  std::vector<tensor<T, hidden>> scales_2{};
  int setting = 3;
  using members = nn::member_list<&listed::layer, &listed::scales_2, &listed::setting>;
};
struct nothing {
  using members = nn::member_list<>;
};
struct by_hana {
  BOOST_HANA_DEFINE_STRUCT(by_hana, (listed<float>, first), (tensor<float, hidden>, second));
};
static_assert(nn::module<listed<float>> && nn::module<nothing> && nn::module<by_hana>);
static_assert(!nn::module<tensor<float, hidden>> && !nn::module<int>);

TEST_CASE("members have the names of their declarations, in a list and by Hana") {
  by_hana model;
  model.first.scales_2.resize(1);
  std::vector<std::string> names;
  nn::for_each_parameter(model, [&](const std::string& name, const auto&) { names.push_back(name); });
  CHECK(names == std::vector<std::string>{"first.layer.weight", "first.layer.bias", "first.scales_2.0", "second"});
  CHECK(nn::parameter_count(nothing()) == 0);
}

TEST_CASE("drawn weights have the deviation of their paper, and are the same for the same seed") {
  using wide = nn::linear<nn::from<width>, nn::to<hidden>>;
  const auto spread = [](const auto& module) {
    double squares = 0;
    for (const float w : module.weight.values()) { squares += double{w} * w; }
    return std::sqrt(squares / static_cast<double>(module.weight.size()));
  };
  // 12,000 numbers: the deviation of the measured deviation is below 1 %.
  const auto uniform = nn::initialised<wide>(nn::xavier_uniform(1), width{1000});
  const auto normal = nn::initialised<wide>(nn::xavier_normal(2), width{1000});
  const auto gpt = nn::initialised<wide>(nn::normal(3, 0.02), width{1000});
  CHECK(std::abs(spread(uniform) / std::sqrt(2.0 / 1012) - 1) < 0.03);
  CHECK(std::abs(spread(normal) / std::sqrt(2.0 / 1012) - 1) < 0.03);
  CHECK(std::abs(spread(gpt) / 0.02 - 1) < 0.03);
  double largest = 0;
  for (const float w : uniform.weight.values()) { largest = std::max(largest, std::abs(double{w})); }
  CHECK(largest <= std::sqrt(6.0 / 1012));
  for (const float b : uniform.bias.values()) { CHECK(b == 0); }
  CHECK(differ(uniform.weight, nn::initialised<wide>(nn::xavier_uniform(1), width{1000}).weight) == "");
  CHECK(differ(uniform.weight, nn::initialised<wide>(nn::xavier_uniform(2), width{1000}).weight) != "");
  // A user's random generator goes on, a constant one begins anew.
  nn::xavier_uniform how(1);
  const auto first = nn::initialised<wide>(how, width{1000});
  CHECK(differ(uniform.weight, first.weight) == "");
  CHECK(differ(first.weight, nn::initialised<wide>(how, width{1000}).weight) != "");
  const nn::xavier_uniform constant(1);
  CHECK(differ(first.weight, nn::initialised<wide>(constant, width{1000}).weight) == "");
  CHECK(differ(first.weight, nn::initialised<wide>(constant, width{1000}).weight) == "");

  const auto norm = nn::initialised<nn::layer_norm<width>>(nn::xavier_uniform(1), width{4});
  CHECK(norm.gamma.values()[3] == 1);
  CHECK(norm.beta.values()[3] == 0);
}

TEST_CASE("a stack is made with its layers, then drawn") {
  using layers = nn::stack<layer>;
  using model = nn::encoder_decoder<nn::layer_norm<d_model>, layers>;
  nn::xavier_uniform how(1);
  static_assert(
      std::is_same_v<decltype(nn::initialised<layers>(how)), nn::a_stack_is_made_by_of_and_then_initialised<layers>>);
  static_assert(std::is_same_v<decltype(nn::initialised<model>(nn::xavier_uniform(1))),
                               nn::a_stack_is_made_by_of_and_then_initialised<model>>);
  auto two = layers::of(2);
  nn::initialise(two, how, width{5});
  CHECK(two.layers.size() == 2U);
  CHECK(differ(two.layers[0].attention.query.weight, two.layers[1].attention.query.weight) != "");
}

TEST_CASE("tuples and lists of modules are drawn and counted as modules are") {
  using map = nn::linear<nn::from<d_model>, nn::to<hidden>>;
  std::tuple<map, std::array<nn::layer_norm<d_model>, 2>> both;
  nn::normal how(1, 1);
  nn::initialise(both, how);
  CHECK(std::get<0>(both).weight.values()[0] != 0);
  CHECK(std::get<1>(both)[1].gamma.values()[0] == 1);
  const std::size_t of_map = nn::parameter_count(std::get<0>(both));
  CHECK(nn::parameter_count(both) == of_map + 4 * 8);
  CHECK(nn::parameter_bytes(both) == 4 * (of_map + 4 * 8));
  const std::vector<map> several(3);
  CHECK(nn::parameter_count(several) == 3 * of_map);
  std::vector<std::string> names;
  nn::for_each_parameter(both, [&](const std::string& name, const auto&) { names.push_back(name); });
  CHECK(names[0] == "0.weight");
  CHECK(names.back() == "1.1.beta");
  const auto drawn_at_once = nn::initialised<std::tuple<map, nn::layer_norm<d_model>>>(nn::normal(1, 1));
  CHECK(differ(std::get<0>(drawn_at_once).weight, std::get<0>(both).weight) == "");
  // How many layers a list has is not known: as for a stack.
  using with_stack = std::tuple<map, nn::stack<layer>>;
  static_assert(std::is_same_v<decltype(nn::initialised<with_stack>(how)),
                               nn::a_stack_is_made_by_of_and_then_initialised<with_stack>>);
}

TEST_CASE("a module is a plain struct: given tensors make one, dropout leaves values alone") {
  const tensor<float, d_model, hidden> weight = drawn<tensor<float, d_model, hidden>>(1);
  const nn::linear<nn::from<d_model>, nn::to<hidden>, nn::no_bias> given{weight, {}};
  CHECK(given.weight.data() == weight.data());
  const auto x = drawn<tensor<float, seq, d_model>>(2, seq{3});
  const auto after = nn::dropout{0.1}(x);
  CHECK(std::equal(x.values().begin(), x.values().end(), after.values().begin()));
}

// Types of a user's that draw their weights by themselves.
struct counted_draws {
  int next() { return ++draws; }
  int draws = 0;
};
struct without_members {
  float weight = 0;
  template <class How, class... Extents>
  void initialise_parameters(How& how, const Extents&...) {
    weight = static_cast<float>(how.next());
  }
};

TEST_CASE("a type with a function of its own decides what draws its weights, and needs no list of members") {
  without_members m;
  counted_draws how;
  nn::initialise(m, how);
  nn::initialise(m, how);
  CHECK(m.weight == 2);
}

}  // namespace modules

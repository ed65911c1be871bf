// tests/tensor/standard_types.test.cpp -- tensors in the types of the standard library, which ask what a tensor is made
// from. Compiled in C++26, too (tests/messages/in_clang.py). SPDX-License-Identifier: BSL-1.0
#include <dimwise/dimwise.hpp>

#include <doctest/doctest.h>

#include <any>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

using namespace dimwise;

namespace standard_types_test {
namespace {

struct seq : position_dim<> {};
struct d_k : feature_dim<4> {};
struct wide : feature_dim<400> {};
using queries = tensor<float, seq, d_k>;
using weights = tensor<float, d_k, wide>;

struct layer {
  weights w;
  std::optional<weights> bias;
};

}  // namespace

TEST_CASE("tensors live in containers, optionals and variants") {
  std::vector<queries> list;
  list.push_back(queries(seq{3}));
  list.emplace_back(seq{2});
  list.insert(list.begin(), queries());
  list.resize(4);
  CHECK(extent_of<seq>(list[1]) == 3);

  std::optional<queries> maybe;
  maybe = queries(seq{3});
  maybe.emplace(seq{2});
  CHECK(extent_of<seq>(*maybe) == 2);
  layer one{weights(), std::nullopt};
  layer other = one;
  std::swap(one.w, other.w);
  CHECK_FALSE(other.bias.has_value());

  std::variant<queries, weights> either;
  either = queries(seq{3});
  CHECK(either.index() == 0);
  either = weights();
  CHECK(either.index() == 1);
  CHECK(std::visit([](const auto& x) { return x.size(); }, either) == 1600);
  const std::variant<std::monostate, float, queries> number = 1.0F;
  CHECK(number.index() == 1);

  std::tuple<queries, weights, int> all;
  std::get<0>(all) = queries(seq{5});
  const auto more = std::tuple_cat(std::tuple(queries(seq{1})), std::tuple(2));
  CHECK(std::get<1>(more) == 2);
  std::pair<queries, weights> pair{queries(seq{3}), weights()};
  pair = std::make_pair(queries(seq{4}), weights());
  CHECK(extent_of<seq>(pair.first) == 4);

  std::map<std::string, queries> names;
  names["a"] = queries(seq{3});
  names.try_emplace("b", seq{4});
  CHECK(extent_of<seq>(names.at("b")) == 4);

  const std::any anything = queries(seq{2});
  CHECK(extent_of<seq>(std::any_cast<const queries&>(anything)) == 2);
  const std::function<queries(const queries&)> twice = [](const queries& x) { return queries(x * 2.0F); };
  const queries doubled = twice(queries({1, 2, 3, 4}, seq{1}));
  CHECK(doubled.values()[3] == 8);
  CHECK(std::make_shared<queries>(seq{3})->size() == 12);
  CHECK(std::make_unique<weights>()->size() == 1600);
  CHECK_FALSE(std::is_constructible_v<queries, weights>);
  CHECK_FALSE(std::is_convertible_v<queries, weights>);
}

}  // namespace standard_types_test

// tests/tensor/construction.test.cpp -- tensors from lists, containers, spans and arrays of other numbers; numbers read
// back.
//
// SPDX-License-Identifier: BSL-1.0
#include "support/dims.hpp"
#include "support/numbers.hpp"

#include <doctest/doctest.h>

#include <array>
#include <concepts>
#include <cstdint>
#include <list>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using namespace dims;
using namespace dimwise_test;
using dimwise::extent_error;
using dimwise::extent_of;
using dimwise::id;
using dimwise::index_error;
using dimwise::indexed;
using dimwise::merged;
using dimwise::score;
using dimwise::tensor;
using dimwise::tensor_view;

// Real numbers take any number; whole ones those that they can all hold; bool takes bool; ids whole numbers.
template <class To, class From>
inline constexpr bool taken = std::constructible_from<tensor<To, seq>, std::vector<From>, seq> &&
                              std::constructible_from<tensor<To, seq>, std::vector<From>>;
template <class To, class From>
inline constexpr bool refused = !std::constructible_from<tensor<To, seq>, std::vector<From>, seq>;
static_assert(taken<float, float> && taken<float, double> && taken<double, float> && taken<float, int> &&
              taken<double, std::int64_t>);
static_assert(taken<std::int64_t, int> && taken<int, std::int8_t> && taken<std::int64_t, std::uint32_t> &&
              taken<std::size_t, unsigned>);
static_assert(taken<bool, bool> && taken<id<vocab>, int> && taken<id<vocab>, std::size_t> &&
              taken<id<vocab>, id<vocab>>);
static_assert(taken<dimwise::bfloat16, float> && taken<dimwise::float16, double>);
static_assert(refused<int, float> && refused<int, std::int64_t> && refused<std::size_t, int> &&
              refused<unsigned, std::int64_t>);
static_assert(refused<float, bool> && refused<bool, int> && refused<bool, float> && refused<float, std::string> &&
              refused<float, char>);
static_assert(refused<id<vocab>, float> && refused<id<vocab>, bool> && refused<id<vocab>, id<d_k>> &&
              refused<float, id<vocab>>);
static_assert(refused<float, std::vector<float>> && refused<dimwise::bfloat16, int>);
// Nothing becomes a tensor by itself.
static_assert(!std::convertible_to<std::vector<float>, tensor<float, seq>> &&
              !std::convertible_to<float, tensor<float>> && !std::convertible_to<int, tensor<float, seq>>);
// A tensor without dimensions is read as its number, unless a mark would be dropped; no other is.
static_assert(std::convertible_to<tensor<float>, float> && std::convertible_to<const tensor<double>&, double> &&
              std::convertible_to<tensor_view<const float>, float>);
static_assert(std::convertible_to<tensor<float, indexed<seq>>, float>);
static_assert(!std::convertible_to<tensor<float, pair>, float> && !std::convertible_to<tensor<float, single>, float>);
static_assert(!std::convertible_to<tensor<float, score<d_k>>, float>);

template <class T, class... D>
bool holds(const tensor<T, D...>& x, std::initializer_list<std::type_identity_t<T>> expected) {
  return x.size() == expected.size() && std::equal(expected.begin(), expected.end(), x.values().begin());
}

}  // namespace

TEST_CASE("construction: from containers, spans and arrays of other numbers") {
  const std::vector<double> real{1.5, -2.25, 0.1};
  CHECK(holds(tensor<float, seq>(real, seq{3}), {1.5F, -2.25F, 0.1F}));
  CHECK(holds(tensor<float, seq>(real), {1.5F, -2.25F, 0.1F}));  // the only extent follows
  CHECK(holds(tensor<float, seq>(std::vector<float>{1, 2}), {1, 2}));
  CHECK(holds(tensor<float, seq, pair>(std::list<int>{1, 2, 3, 4}, seq{2}), {1, 2, 3, 4}));
  CHECK(holds(tensor<double, pair>(std::array<float, 2>{0.5F, 3}), {0.5, 3}));
  const int whole[] = {7, -8};
  CHECK(holds(tensor<float, pair>(whole), {7, -8}));
  CHECK(holds(tensor<std::int64_t, pair>(std::span(whole)), {7, -8}));
  CHECK(holds(tensor<bool, seq>(std::vector<bool>{true, false, true}, seq{3}), {true, false, true}));
  CHECK(holds(tensor<id<vocab>, seq>(std::vector<int>{4, 0}), {id<vocab>(4), id<vocab>(0)}));
  const tensor<dimwise::bfloat16, seq> narrow(std::vector<double>{1.0, 3.140625}, seq{2});
  CHECK(static_cast<float>(narrow.values()[1]) == 3.140625F);
  CHECK(holds(tensor<float, merged<pair, four>>(std::vector<double>(8, 0.5)),
              {0.5F, 0.5F, 0.5F, 0.5F, 0.5F, 0.5F, 0.5F, 0.5F}));
  CHECK(tensor<float, seq>(std::vector<double>()).size() == 0);

  CHECK(thrown<extent_error>([&] { tensor<float, seq>(real, seq{2}); }) ==
        "tensor(values, …): 3 values were given for 2 elements (R15)");
  CHECK(thrown<extent_error>([&] { tensor<float, pair>{real}; }) ==
        "tensor(values, …): 3 values were given for 2 elements (R15)");
  CHECK(thrown<index_error>([] { tensor<id<vocab>, seq>(std::vector<int>{4, -1}); }) == "id -1 is negative (R18)");
}

TEST_CASE("construction: from lists within lists, whose lengths are the extents") {
  const tensor<float, seq, width> table{{1, 2, 3}, {4, 5, 6}};
  CHECK(holds(table, {1, 2, 3, 4, 5, 6}));
  CHECK(extent_of<seq>(table) == 2);
  CHECK(extent_of<width>(table) == 3);
  CHECK(holds(tensor<float, seq>{1, 2, 3}, {1, 2, 3}));
  CHECK(holds(tensor<double, seq, pair>{{1, 2}, {3, 4}, {5, 6}}, {1, 2, 3, 4, 5, 6}));
  CHECK(holds(tensor<float, pair, four>{{1, 2, 3, 4}, {5, 6, 7, 8}}, {1, 2, 3, 4, 5, 6, 7, 8}));
  CHECK(holds(tensor<int, batch, seq, pair>{{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}, {{9, 10}, {11, 12}}},
              {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
  CHECK(holds(tensor<bool, seq, key>{{true, false}, {true, true}}, {true, false, true, true}));
  CHECK(holds(tensor<float, seq, merged<pair, single>>{{1, 2}, {3, 4}}, {1, 2, 3, 4}));  // one level for a composite
  CHECK(holds(tensor<float, seq, single>{{1}, {2}}, {1, 2}));
  CHECK(holds(tensor<float, seq, width>({{1, 2}, {3, 4}}, seq{2}, width{2}), {1, 2, 3, 4}));
  CHECK(holds(tensor<float, seq, merged<batch, width>>({{1, 2}, {3, 4}}, seq{2}, batch{1}, width{2}), {1, 2, 3, 4}));
  tensor<float, seq, width> y;
  y = {{1, 2}, {3, 4}, {5, 6}};
  CHECK(holds(y, {1, 2, 3, 4, 5, 6}));
  y = {};
  CHECK(y.size() == 0);
  const tensor<float, seq, width> empty{{}, {}};
  CHECK(extent_of<seq>(empty) == 2);
  CHECK(extent_of<width>(empty) == 0);

  const auto ragged = thrown<extent_error>([] { tensor<float, seq, width>{{1, 2, 3}, {4, 5}}; });
  CHECK(ragged == "a list along dimension width has 2 elements and another has 3 (R15)");
  CHECK(thrown<extent_error>([] { tensor<float, seq, pair>{{1, 2, 3}, {4, 5, 6}}; }) ==
        "dimension pair has extent 2, but its list has 3 elements (R15)");
  CHECK(thrown<extent_error>([] { tensor<float, seq, width>({{1, 2}}, seq{2}, width{2}); }) ==
        "dimension seq has extent 2, but its list has 1 elements (R15)");
  CHECK(thrown<extent_error>([] { tensor<int, batch, seq, pair>{{{1, 2}, {3, 4}}, {{5, 6}}}; }) ==
        "a list along dimension seq has 1 elements and another has 2 (R15)");
}

TEST_CASE("assign: all elements, from the same sources") {
  tensor<float, seq, width> x(seq{2}, width{2});
  const float* const before = x.values().data();
  x.assign({{1, 2}, {3, 4}});
  CHECK(holds(x, {1, 2, 3, 4}));
  x.assign({5, 6, 7, 8});
  CHECK(holds(x, {5, 6, 7, 8}));
  x.assign(std::vector<double>{1.5, 2.5, 3.5, 4.5});
  CHECK(holds(x, {1.5F, 2.5F, 3.5F, 4.5F}));
  x.assign(std::vector<int>{1, 2, 3, 4});
  CHECK(x.values().data() == before);
  CHECK(thrown<extent_error>([&] { x.assign(std::vector<int>{1, 2, 3}); }) ==
        "assign: 3 values were given for 4 elements (R15)");
  CHECK(thrown<extent_error>([&] { x.assign({{1, 2}, {3, 4}, {5, 6}}); }) ==
        "dimension seq has extent 2, but its list has 3 elements (R15)");
  CHECK(thrown<extent_error>([&] { x.assign({{1, 2}, {3}}); }) ==
        "a list along dimension width has 1 elements and another has 2 (R15)");
  CHECK(holds(x, {1, 2, 3, 4}));
  tensor<id<vocab>, seq> ids({id<vocab>(1), id<vocab>(2)});
  CHECK(thrown<index_error>([&] { ids.assign(std::vector<int>{3, -4}); }) == "id -4 is negative (R18)");
  CHECK(holds(ids, {id<vocab>(1), id<vocab>(2)}));
}

TEST_CASE("numbers: a tensor without dimensions is read as its number") {
  const tensor<float> one({7});
  const float f = one;
  CHECK(f == 7);
  CHECK(one() == 7);
  const float g = tensor_view<const float>(one);
  CHECK(g == 7);
  const tensor<float, seq> x({1, 2, 3}, seq{3});
  const float total = dimwise::evaluate(dimwise::sum<seq>(x));
  CHECK(total == 6);
  const tensor<float> moved_from = [] {
    tensor<float> t({3});
    tensor<float> u = std::move(t);
    return u;
  }();
  CHECK(static_cast<float>(moved_from) == 3);
}

template <class T, class Number>
inline constexpr bool made_of = std::is_constructible_v<T, Number> && std::is_assignable_v<T&, Number>;
static_assert(made_of<tensor<float>, float> && made_of<tensor<float>, int> && made_of<tensor<bool>, bool> &&
              made_of<tensor<id<vocab>>, id<vocab>> && made_of<tensor<float>, double>);
// Elements are converted as those of a container are; a tensor with dimensions or marks is made of no number.
static_assert(!made_of<tensor<int>, float> && !made_of<tensor<int>, long long> && !made_of<tensor<float>, bool>);
static_assert(!made_of<tensor<float, vocab>, float> && !made_of<tensor<float, score<width>>, float>);
// One way is explicit: the type of `c ? t : 1.0F` is float.
static_assert(!std::is_convertible_v<float, tensor<float>> &&
              std::is_same_v<decltype(true ? tensor<float>() : 1.0F), float>);

TEST_CASE("numbers: a number makes a tensor without dimensions") {
  tensor<float> t{0.5F};
  CHECK(t() == 0.5F);
  const tensor<float> before = t;
  t = 2;
  CHECK(t() == 2);
  CHECK(before() == 0.5F);
  t += 0.25;
  CHECK(t() == 2.25F);
  CHECK(tensor<std::int64_t>(3)() == 3);
  CHECK(tensor<bool>{true}());
  CHECK(tensor<id<vocab>>(2)() == id<vocab>(2));
  CHECK(thrown<index_error>([] { (void)tensor<id<vocab>>(-1); }) == "id -1 is negative (R18)");
  float element = 1;
  tensor_view<float> v(&element);
  v = 1.5F;
  CHECK(element == 1.5F);
}

// A container that keeps a tensor to itself.
class bag : tensor<float, width> {
 public:
  bag() : tensor<float, width>({1, 2, 3}, width{3}) {}
  [[nodiscard]] const float* begin() const { return data(); }
  [[nodiscard]] const float* end() const { return data() + 3; }
  using tensor<float, width>::size;
};
static_assert(!dimwise::operand<bag>);
TEST_CASE("a class whose base is a tensor in private is no operand") {
  CHECK(differences(tensor<float, width>(bag(), width{3}), {3}, 0, [](auto i) { return static_cast<double>(i) + 1; }) ==
        "");
}

// tests/tensor/tensor.test.cpp -- construction, elements by ids, assignment of owning tensors.
//
// SPDX-License-Identifier: BSL-1.0
#include "support/dims.hpp"
#include "support/numbers.hpp"

#include <doctest/doctest.h>

#include <concepts>
#include <cstdint>
#include <span>
#include <vector>

namespace {

using namespace dims;
using namespace dimwise_test;
using dimwise::extent_error;
using dimwise::extent_of;
using dimwise::id;
using dimwise::index_error;
using dimwise::merged;
using dimwise::tensor;

// Elements are reached by ids of exactly the tensor's dimensions, in any order.
template <class X, class... Ids>
concept indexable = requires(const X& x, Ids... ids) { x(ids...); };
template <class X, class... Ids>
concept settable = requires(X& x, Ids... ids) { x.set(typename X::value_type{}, ids...); };
using cube = tensor<float, batch, seq, d_k>;
static_assert(indexable<cube, id<batch>, id<seq>, id<d_k>>);
static_assert(indexable<cube, id<d_k>, id<batch>, id<seq>>);
static_assert(!indexable<cube, id<batch>, id<key>, id<d_k>>);  // another dimension's id, although related
static_assert(!indexable<cube, id<batch>, id<seq>>);
static_assert(!indexable<cube, id<batch>, id<seq>, id<seq>>);
static_assert(!indexable<cube, std::size_t, std::size_t, std::size_t>);
static_assert(!indexable<cube, int, int, int>);
static_assert(settable<cube, id<seq>, id<batch>, id<d_k>>);
static_assert(!settable<cube, id<seq>, id<batch>, id<d_v>>);
// A merged dimension is indexed by its factors.
static_assert(indexable<tensor<float, merged<heads, d_k>>, id<heads>, id<d_k>>);
static_assert(!indexable<tensor<float, merged<heads, d_k>>, id<merged<heads, d_k>>>);

// Each run-time extent is given once, static ones may be, others may not.
static_assert(std::constructible_from<cube, batch, seq>);
static_assert(std::constructible_from<cube, seq, batch>);
static_assert(std::constructible_from<cube, batch, seq, d_k>);
static_assert(!std::constructible_from<cube, batch>);
static_assert(!std::constructible_from<cube, batch, seq, key>);
static_assert(!std::constructible_from<cube, batch, seq, seq>);
static_assert(!std::constructible_from<cube, int, int>);

// Elements of one type do not become another's unless nothing is lost.
static_assert(std::constructible_from<tensor<double, seq>, tensor<float, seq>>);
static_assert(!std::constructible_from<tensor<float, seq>, tensor<double, seq>>);
static_assert(!std::constructible_from<tensor<bool, seq>, tensor<float, seq>>);
static_assert(!std::constructible_from<tensor<float, seq>, tensor<id<vocab>, seq>>);
static_assert(!std::constructible_from<tensor<id<vocab>, seq>, tensor<id<d_k>, seq>>);
static_assert(!std::constructible_from<tensor<float, seq>, tensor<float, key>>);

}  // namespace

// Containers of every kind are elements of a tensor of static extents: g++ 12 once preferred the refusal of everything
// else.
struct five : dimwise::feature_dim<5> {};

TEST_CASE("containers of elements make tensors and views of static extents") {
  std::vector<float> list{1, 2, 3, 4, 5};
  const float raw[5] = {1, 2, 3, 4, 5};
  CHECK(tensor<float, five>(list)(id<five>(4)) == 5);
  CHECK(tensor<float, five>(std::vector<float>(5, 2.0F))(id<five>(4)) == 2);
  CHECK(tensor<float, five>(raw)(id<five>(3)) == 4);
  CHECK(tensor<float, five>(std::span<const float>(list))(id<five>(0)) == 1);
  CHECK(tensor<float>(std::vector<float>{7})() == 7);
  CHECK(dimwise::tensor_view<float, five>(list)(id<five>(2)) == 3);
  CHECK(dimwise::tensor_view<const float, five>(raw)(id<five>(2)) == 3);
  CHECK_THROWS_AS((tensor<float, five>(std::vector<float>(4))), extent_error);
}

TEST_CASE("tensor: zeros of extents in any order, static ones left out or said") {
  const cube a(batch{2}, seq{3});
  const cube b(seq{3}, batch{2});
  const cube c(d_k{4}, seq{3}, batch{2});
  for (const cube* x : {&a, &b, &c}) {
    CHECK(differences(*x, {2, 3, 4}, 0, [](auto, auto, auto) { return 0; }) == "");
  }
  CHECK(extent_of<seq>(a) == 3);
  CHECK(extent_of<d_k>(a) == 4);
  CHECK(a.size() == 24);
}

TEST_CASE("tensor: nothing said means zeros of the static extents, and 0 for the others") {
  const tensor<float, heads, d_k> fixed;
  CHECK(differences(fixed, {3, 4}, 0, [](auto, auto) { return 0; }) == "");
  const cube open;
  CHECK(open.size() == 0);
  CHECK(extent_of<batch>(open) == 0);
  CHECK(extent_of<d_k>(open) == 4);
}

TEST_CASE("tensor: values in memory order, from lists, spans, vectors") {
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};
  const auto expected = [](auto s, auto w) { return s * 3 + w + 1; };
  CHECK(differences(tensor<float, seq, width>({1, 2, 3, 4, 5, 6}, seq{2}, width{3}), {2, 3}, 0, expected) == "");
  CHECK(differences(tensor<float, seq, width>(values, width{3}, seq{2}), {2, 3}, 0, expected) == "");
  CHECK(differences(tensor<float, seq, width>(std::span<const float>(values), seq{2}, width{3}), {2, 3}, 0, expected) ==
        "");
  CHECK(differences(tensor<float, pair>({4, 5}), {2}, 0, [](auto i) { return i + 4; }) == "");
  const tensor<float> one({7});
  CHECK(one.size() == 1);
  CHECK(*one.values().data() == 7);
}

TEST_CASE("tensor: a wrong number of values throws, and says how many of how many") {
  CHECK(thrown<extent_error>([] { tensor<float, seq, width>({1, 2, 3, 4, 5}, seq{2}, width{3}); }) ==
        "tensor(values, …): 5 values were given for 6 elements (R15)");
  CHECK(thrown<extent_error>([] { tensor<float, pair>({1, 2, 3}); }) ==
        "dimension pair has extent 2, but its list has 3 elements (R15)");
  CHECK(thrown<extent_error>([] { tensor<float, seq>({1}, seq{0}); }) ==
        "tensor(values, …): 1 values were given for 0 elements (R15)");
  tensor<float, seq> x({1, 2}, seq{2});
  CHECK(thrown<extent_error>([&] { x.assign(std::vector<float>{1, 2, 3}); }) ==
        "assign: 3 values were given for 2 elements (R15)");
  CHECK(differences(x, {2}, 0, [](auto s) { return s + 1; }) == "");
}

TEST_CASE("tensor: extents of 0 leave nothing to read, and everything works") {
  tensor<float, batch, seq, d_k> x(batch{0}, seq{3});
  CHECK(x.size() == 0);
  CHECK(x.values().empty());
  x.fill(1);
  x.assign({});
  const auto y = x;
  CHECK(extents_of(y) == std::array<std::size_t, 3>{0, 3, 4});
  CHECK(thrown<index_error>([&] { (void)x(id<batch>(0), id<seq>(0), id<d_k>(0)); }) ==
        "id 0 is outside dimension batch of extent 0 (R18)");
}

TEST_CASE("tensor: elements by ids, in any order, also those of merged dimensions") {
  const auto x = drawn<cube>(1, batch{2}, seq{3});
  for (std::size_t b = 0; b < 2; ++b) {
    for (std::size_t s = 0; s < 3; ++s) {
      for (std::size_t d = 0; d < 4; ++d) {
        CHECK(x(id<batch>(b), id<seq>(s), id<d_k>(d)) == el(x, b, s, d));
        CHECK(x(id<d_k>(d), id<batch>(b), id<seq>(s)) == el(x, b, s, d));
      }
    }
  }
  tensor<float, seq, merged<heads, d_k>> y(seq{2});
  y.set(5, id<d_k>(1), id<seq>(1), id<heads>(2));
  CHECK(differences(y, {2, 12}, 0, [](auto s, auto m) { return s == 1 && m == 9 ? 5 : 0; }) == "");
  CHECK(y(id<heads>(2), id<d_k>(1), id<seq>(1)) == 5);
}

TEST_CASE("tensor: ids outside a dimension throw and change nothing") {
  tensor<float, batch, seq> x({1, 2, 3, 4, 5, 6}, batch{2}, seq{3});
  CHECK(thrown<index_error>([&] { (void)x(id<seq>(3), id<batch>(0)); }) ==
        "id 3 is outside dimension seq of extent 3 (R18)");
  CHECK(thrown<index_error>([&] { x.set(9, id<batch>(2), id<seq>(0)); }) ==
        "id 2 is outside dimension batch of extent 2 (R18)");
  CHECK(thrown<index_error>([&] {
    (void)x(id<seq>(static_cast<std::size_t>(-1)), id<batch>(0));
  }).ends_with("outside dimension seq of extent 3 (R18)"));
  CHECK(differences(x, {2, 3}, 0, [](auto b, auto s) { return b * 3 + s + 1; }) == "");
}

TEST_CASE("tensor: the same dimensions in another order permute, and replace extents") {
  const auto x = drawn<cube>(2, batch{2}, seq{3});
  const tensor<float, d_k, batch, seq> y = x;
  CHECK(differences(y, {4, 2, 3}, 0, [&](auto d, auto b, auto s) { return el(x, b, s, d); }) == "");
  tensor<double, seq, d_k, batch> z(batch{5}, seq{5});
  z = x;
  CHECK(differences(z, {3, 4, 2}, 0, [&](auto s, auto d, auto b) { return el(x, b, s, d); }) == "");
  cube back;
  back = z.size() == 24 ? cube(y) : cube();
  CHECK(differences(back, {2, 3, 4}, 0, [&](auto b, auto s, auto d) { return el(x, b, s, d); }) == "");
}

TEST_CASE("tensor: elements of bool, of ids, of double, of whole numbers") {
  const tensor<bool, seq> b({true, false, true}, seq{3});
  CHECK(differences(b, {3}, 0, [](auto s) { return s != 1; }) == "");
  const tensor<bool, batch, seq> none(batch{2}, seq{2});
  CHECK(differences(none, {2, 2}, 0, [](auto, auto) { return false; }) == "");
  tensor<id<vocab>, seq> ids(seq{2});
  CHECK(el(ids, 0) == id<vocab>(0));
  ids.set(id<vocab>(70000), id<seq>(1));
  CHECK(ids(id<seq>(1)).value == 70000);
  const auto d = drawn<tensor<double, seq, d_k>>(3, seq{2});
  CHECK(differences(tensor<double, d_k, seq>(d), {4, 2}, 0, [&](auto i, auto s) { return el(d, s, i); }) == "");
  const tensor<std::int64_t, seq> n({-1, std::int64_t{1} << 60}, seq{2});
  CHECK(n(id<seq>(1)) == std::int64_t{1} << 60);
}

TEST_CASE("tensor: memory starts at 64 bytes, wherever the tensor lies") {
  const auto aligned = [](const void* p) { return reinterpret_cast<std::uintptr_t>(p) % 64 == 0; };
  std::vector<tensor<float, pair>> small(5);
  for (const auto& x : small) { CHECK(aligned(x.values().data())); }
  for (const std::size_t n : counts{1, 3, 17, 1000}) {
    tensor<float, seq> x(seq{n});
    CHECK(aligned(x.data()));
    const tensor<double, seq> y(seq{n});
    CHECK(aligned(y.data()));
    const auto copy = x;
    x.fill(1);
    CHECK(aligned(x.values().data()));
    const tensor<float, seq> doubled(x + x);
    CHECK(aligned(doubled.values().data()));
    const tensor<bool, seq> flags(seq{n});
    CHECK(aligned(flags.values().data()));
  }
}

// tests/tensor/view.test.cpp -- views: borrowed memory with strides, read by expressions and written by assignment.
//
// SPDX-License-Identifier: BSL-1.0
#include "support/dims.hpp"
#include "support/numbers.hpp"

#include <doctest/doctest.h>

#include <array>
#include <numeric>
#include <span>
#include <type_traits>
#include <vector>

namespace {

using namespace dims;
using namespace dimwise_test;
using dimwise::extent_error;
using dimwise::id;
using dimwise::strides;
using dimwise::tensor;
using dimwise::tensor_view;

// 0, 1, 2, …
std::vector<float> counting(std::size_t n) {
  std::vector<float> all(n);
  std::iota(all.begin(), all.end(), 0.0F);
  return all;
}

using table = tensor_view<float, seq, d_k>;
using const_table = tensor_view<const float, seq, d_k>;
template <class X, class... Ids>
concept indexable = requires(const X& x, Ids... ids) { x(ids...); };
static_assert(indexable<table, id<d_k>, id<seq>>);
static_assert(!indexable<table, id<d_k>, id<key>>);
static_assert(!indexable<table, id<seq>, id<seq>>);
// Const memory is not written, and a temporary is not borrowed.
static_assert(std::is_assignable_v<table&, tensor<float, seq, d_k>>);
static_assert(!std::is_assignable_v<const_table&, tensor<float, seq, d_k>>);
static_assert(!std::is_constructible_v<table, std::span<const float>, seq>);
static_assert(!std::is_constructible_v<table, const tensor<float, seq, d_k>&>);
static_assert(!std::is_constructible_v<const_table, tensor<float, seq, d_k>&&>);
// Assignment never broadcasts, nor drops dimensions.
static_assert(!std::is_assignable_v<table&, tensor<float, d_k>>);
static_assert(!std::is_assignable_v<table&, tensor<double, seq, d_k>>);

}  // namespace

TEST_CASE("view: contiguous memory of a vector, a span, an array, a pointer") {
  auto memory = counting(12);
  std::array<float, 12> array{};
  std::copy(memory.begin(), memory.end(), array.begin());
  const auto expected = [](auto s, auto d) { return s * 4 + d; };
  CHECK(differences(dimwise::evaluate(table(memory, seq{3}) + 0), {3, 4}, 0, expected) == "");
  CHECK(differences(dimwise::evaluate(const_table(memory, seq{3}) + 0), {3, 4}, 0, expected) == "");
  CHECK(differences(dimwise::evaluate(table(std::span<float>(memory), seq{3}) + 0), {3, 4}, 0, expected) == "");
  CHECK(differences(dimwise::evaluate(table(array, seq{3}) + 0), {3, 4}, 0, expected) == "");
  CHECK(differences(dimwise::evaluate(const_table(static_cast<const float*>(array.data()), seq{3}) + 0), {3, 4}, 0,
                    expected) == "");
  CHECK(differences(dimwise::evaluate(tensor_view<const float, pair, d_k>(std::span<const float>(memory).first(8)) + 0),
                    {2, 4}, 0, expected) == "");
  CHECK(differences(tensor<float, seq, d_k>(table(memory, seq{3})), {3, 4}, 0, expected) == "");
  CHECK(differences(dimwise::evaluate(table(memory, seq{3})), {3, 4}, 0, expected) == "");
}

TEST_CASE("view: a wrong number of elements throws") {
  auto memory = counting(12);
  CHECK(thrown<extent_error>([&] { table(memory, seq{4}); }) ==
        "tensor_view: 12 values were given for 16 elements (R15)");
  CHECK(thrown<extent_error>([&] { const_table(memory, seq{2}); }) ==
        "tensor_view: 12 values were given for 8 elements (R15)");
}

TEST_CASE("view: strides of any order, gaps, steps backwards and steps of 0") {
  auto memory = counting(40);
  const table transposed(memory.data(), strides{1, 3}, seq{3});
  CHECK(differences(dimwise::evaluate(transposed + 0), {3, 4}, 0, [](auto s, auto d) { return s + 3 * d; }) == "");
  const table gaps(memory.data(), strides{10, 2}, seq{3});
  CHECK(differences(dimwise::evaluate(gaps + 0), {3, 4}, 0, [](auto s, auto d) { return 10 * s + 2 * d; }) == "");
  const table backwards(memory.data() + 39, strides{-10, -1}, seq{3});
  CHECK(differences(dimwise::evaluate(backwards + 0), {3, 4}, 0, [](auto s, auto d) { return 39 - 10 * s - d; }) == "");
  const const_table repeated(memory.data() + 5, strides{0, 1}, seq{3});
  CHECK(differences(dimwise::evaluate(repeated + 0), {3, 4}, 0, [](auto, auto d) { return 5 + d; }) == "");
  CHECK(differences(tensor<float, d_k, seq>(backwards), {4, 3}, 0, [](auto d, auto s) { return 39 - 10 * s - d; }) ==
        "");
  using wide = tensor_view<const float, seq, dimwise::merged<heads, d_k>>;  // a stride for each factor
  const wide w(memory.data(), strides{1, 12, 3}, seq{3});
  CHECK(differences(dimwise::evaluate(w + 0), {3, 12}, 0,
                    [](auto s, auto m) { return s + 12 * (m / 4) + 3 * (m % 4); }) == "");
}

TEST_CASE("view: elements by ids, for reading and writing") {
  auto memory = counting(12);
  const table v(memory.data(), strides{1, 3}, seq{3});
  CHECK(v(id<seq>(2), id<d_k>(1)) == 5);
  CHECK(v(id<d_k>(1), id<seq>(2)) == 5);
  v(id<seq>(0), id<d_k>(3)) = 100;
  CHECK(memory[9] == 100);
  CHECK(thrown<dimwise::index_error>([&] { (void)v(id<seq>(3), id<d_k>(0)); }) ==
        "id 3 is outside dimension seq of extent 3 (R18)");
}

TEST_CASE("view: of a tensor, for reading and writing") {
  auto x = drawn<tensor<float, seq, d_k>>(1, seq{3});
  const auto before = x;
  {
    const const_table read(x);
    CHECK(differences(dimwise::evaluate(read * 2), {3, 4}, 0, [&](auto s, auto d) { return 2 * el(x, s, d); }) == "");
    table write(x);
    write = write * 2;
  }
  CHECK(differences(x, {3, 4}, 0, [&](auto s, auto d) { return 2 * el(before, s, d); }) == "");
  CHECK(x.extents().extent<seq>() == 3);
}

TEST_CASE("view: of a tensor whose buffer is replaced because an expression shares it") {
  tensor<float, seq, d_k> x({1, 1, 1, 1}, seq{1});
  const const_table v(x);
  {
    const auto e = x + 1;
    x.fill(2);
  }
  // The old elements or the new ones, never freed memory (the address sanitizer watches).
  const float seen = v(id<seq>(0), id<d_k>(0));
  CHECK((seen == 1 || seen == 2));
}

TEST_CASE("view: assignment writes through strides and nowhere else") {
  std::vector<float> memory(40, -1.0F);
  table v(memory.data() + 32, strides{-15, 2}, seq{3});
  v = drawn<tensor<float, seq, d_k>>(2, seq{3}) * 0 + 7;
  for (std::size_t i = 0; i < 40; ++i) {
    const bool inside =
        (i >= 2 && i <= 8 && i % 2 == 0) || (i >= 17 && i <= 23 && i % 2 == 1) || (i >= 32 && i <= 38 && i % 2 == 0);
    CHECK(memory[i] == (inside ? 7.0F : -1.0F));
  }
}

TEST_CASE("view: assignment from an expression over the same memory computes first") {
  auto memory = counting(9);
  struct three : dimwise::position_dim<3> {};
  struct three_keys : dimwise::prime<three> {};
  tensor_view<float, three, three_keys> v(memory.data());
  const tensor_view<float, three_keys, three> turned(memory.data());
  v = turned;  // a transposition in place
  for (std::size_t i = 0; i < 9; ++i) { CHECK(memory[i] == static_cast<float>(i % 3 * 3 + i / 3)); }
  auto row = counting(6);
  tensor_view<float, seq> later(row.data() + 1, seq{5});
  const tensor_view<const float, seq> earlier(row.data(), seq{5});
  later = earlier + 10;
  for (std::size_t i = 1; i < 6; ++i) { CHECK(row[i] == static_cast<float>(i - 1 + 10)); }
  const tensor_view<float, seq> target(row.data(), seq{5});
  tensor_view<float, seq> copy = target;
  copy = later;  // one view to another, overlapping
  CHECK(row[0] == 10);
  CHECK(row[4] == 14);
}

TEST_CASE("view: an assignment that throws writes nothing") {
  std::vector<float> memory(8, 3.0F);
  tensor_view<float, seq, d_k> v(memory, seq{2});
  const tensor<float, vocab, d_k> rows(vocab{5});
  const tensor<id<vocab>, seq> ids({id<vocab>(1), id<vocab>(5)}, seq{2});
  CHECK(thrown<dimwise::index_error>([&] { v = dimwise::gather<vocab>(rows, ids); }) ==
        "gather: id 5 is outside dimension vocab of extent 5 (R18)");
  CHECK(thrown<extent_error>([&] { v = tensor<float, d_k, seq>(seq{3}); }) ==
        "assign: dimension seq has extent 2 in one operand and 3 in another (R15)");
  CHECK(memory == std::vector<float>(8, 3.0F));
}

TEST_CASE("view: expressions read its memory when they are evaluated") {
  auto memory = counting(8);
  const auto e = const_table(memory, seq{2}) * 2;
  memory[5] = 100;
  CHECK(differences(dimwise::evaluate(e), {2, 4}, 0,
                    [](auto s, auto d) { return s * 4 + d == 5 ? 200 : 2 * (s * 4 + d); }) == "");
}

TEST_CASE("view: of bools and ids, and extents of 0") {
  const bool flags[] = {true, false, true, true};
  const tensor_view<const bool, seq> b(std::span<const bool>(flags), seq{4});
  CHECK(differences(tensor<bool, seq>(b), {4}, 0, [](auto i) { return i != 1; }) == "");
  const std::vector<id<vocab>> ids = {id<vocab>(3), id<vocab>(1)};
  CHECK(differences(tensor<id<vocab>, seq>(tensor_view<const id<vocab>, seq>(ids, seq{2})), {2}, 0,
                    [](auto i) { return i == 0 ? 3 : 1; }) == "");
  const const_table none(std::span<const float>(), seq{0});
  CHECK(none.size() == 0);
  CHECK(dimwise::evaluate(none + 1).size() == 0);
}

TEST_CASE("view: within: some elements along a dimension, in the same memory, at their positions") {
  auto memory = counting(20);
  const tensor_view<float, seq, d_k> whole(memory, dimwise::starting_at(seq{5}, 7));
  const auto part = whole.within(2, seq{3});
  CHECK(differences(tensor<float, seq, d_k>(part), {3, 4}, 0, [](auto s, auto d) { return (s + 2) * 4 + d; }) == "");
  CHECK(part.extents().origin<seq>("test") == 9);
  CHECK(whole.within(2, dimwise::starting_at(seq{1}, 1)).extents().origin<seq>("test") == 1);
  whole.within(4, seq{1}) = tensor<float, seq, d_k>({-1, -2, -3, -4}, seq{1});
  CHECK(memory[16] == -1);
  CHECK(memory[15] == 15);
  CHECK(whole.within(5, seq{0}).size() == 0);
  CHECK(thrown<extent_error>([&] { (void)whole.within(3, seq{3}); }) ==
        "within: 3 elements of dimension seq from 3 on exceed its extent 5 (R18)");
  CHECK(thrown<extent_error>([&] { (void)whole.within(6, seq{0}); }) ==
        "within: 0 elements of dimension seq from 6 on exceed its extent 5 (R18)");
}

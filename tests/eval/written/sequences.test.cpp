// tests/eval/written/sequences.test.cpp -- vectors of operands, elements that are replaced, windows with a stride.
//
// SPDX-License-Identifier: BSL-1.0
#include "support/dims.hpp"
#include "support/numbers.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace {

using namespace dims;
using namespace dimwise_test;
using dimwise::assign_at;
using dimwise::at;
using dimwise::concat;
using dimwise::evaluate;
using dimwise::expr;
using dimwise::extent_error;
using dimwise::index_error;
using dimwise::origin_error;
using dimwise::replace_at;
using dimwise::shape;
using dimwise::stack;
using dimwise::starting_at;
using dimwise::stride;
using dimwise::tensor;
using dimwise::tensor_view;
using dimwise::unroll;
using dimwise::unstack;

struct step : dimwise::position_dim<> {};
struct three : dimwise::position_dim<3> {};
struct window : dimwise::position_dim<3> {};
struct eight : dimwise::position_dim<8> {};
struct pack : dimwise::packed_dim<> {};

template <class X>
std::vector<double> numbers(const X& x) {
  const tensor y = evaluate(x);
  return {y.values().begin(), y.values().end()};
}

TEST_CASE("stack and concat of a vector are those of its elements") {
  const auto a = drawn<tensor<float, seq, d_k>>(1, seq{3});
  const auto b = drawn<tensor<float, seq, d_k>>(2, seq{3});
  const auto c = drawn<tensor<float, seq, d_k>>(3, seq{3});
  CHECK(numbers(stack<step>(std::vector{a, b, c})) == numbers(stack<step>(a, b, c)));
  CHECK(numbers(stack<three>(std::vector{a, b, c})) == numbers(stack<three>(a, b, c)));
  CHECK(numbers(concat<seq>(std::vector{a, b, c})) == numbers(concat<seq>(a, b, c)));
  CHECK(numbers(concat<seq>(std::vector{a + b, b + c})) == numbers(concat<seq>(a + b, b + c)));
  const std::vector<tensor_view<const float, seq, d_k>> views{tensor_view<const float, seq, d_k>(a),
                                                              tensor_view<const float, seq, d_k>(b)};
  CHECK(numbers(stack<step>(views)) == numbers(stack<step>(a, b)));
  const std::vector<expr<float, shape<seq, d_k>>> exprs{a, a + b, dimwise::exp(c)};
  CHECK(numbers(stack<step>(exprs)) == numbers(stack<step>(a, a + b, dimwise::exp(c))));
  CHECK(numbers(concat<seq>(exprs) + 1.0F) == numbers(concat<seq>(a, a + b, dimwise::exp(c)) + 1.0F));
  const std::vector<tensor<float, seq, d_k>> one{a};
  CHECK(numbers(concat<seq>(one)) == numbers(a));
  // Of other extents along the dimension that grows.
  const auto longer = drawn<tensor<float, seq, d_k>>(4, seq{5});
  CHECK(numbers(concat<seq>(std::vector{a, longer})) == numbers(concat<seq>(a, longer)));
  CHECK(dimwise::plan(concat<seq>(std::vector{a, b})).text() == dimwise::plan(concat<seq>(a, b)).text());
  const tensor exact = dimwise::reference(stack<step>(std::vector{a / 3.0F, b}));
  CHECK(exact.data()[0] == double{a.data()[0]} / 3.0);
  const std::vector<expr<bool, shape<seq, d_k>>> truths{a > b, b > a};
  CHECK(evaluate(stack<step>(truths)).size() == 24);
}

TEST_CASE("the positions of a vector that is joined go on") {
  const auto first = drawn<tensor<float, seq, d_k>>(1, starting_at(seq{3}, 4));
  const auto second = drawn<tensor<float, seq, d_k>>(2, starting_at(seq{2}, 7));
  const tensor joined = concat<seq>(std::vector{first, second});
  CHECK(joined.extents().of_atom<seq>().origin == 4);
  CHECK(joined.extents().extent<seq>() == 5);
  const tensor<float, pack> a({1, 2, 3, 4, 5}, pack{{2, 3}});
  const tensor<float, pack> b({6}, pack{{1}});
  CHECK(evaluate(concat<pack>(std::vector{a, b})).extents().documents<pack>().size() == 3);
}

TEST_CASE("what does not fit is named by its place in the vector") {
  const auto a = drawn<tensor<float, seq, d_k>>(1, seq{3});
  const auto b = drawn<tensor<float, seq, d_k>>(1, seq{4});
  CHECK(thrown<extent_error>([&] { (void)stack<step>(std::vector{a, a, b}); }) ==
        "stack: dimension seq has extent 3 in one operand and 4 in another (R15); element 2 of the vector is the first "
        "that differs from those before it");
  CHECK(thrown<extent_error>([&] { (void)stack<step>(std::vector<tensor<float, seq, d_k>>{}); }) ==
        "stack: the vector is empty, at least one operand is expected (R10)");
  CHECK(thrown<extent_error>([&] { (void)concat<seq>(std::vector<tensor<float, seq, d_k>>{}); }) ==
        "concat: the vector is empty, at least one operand is expected (R10)");
  CHECK(thrown<extent_error>([&] { (void)stack<three>(std::vector{a, a}); }) ==
        "stack: the vector has 2 operands, dimension three has extent 3 (R10)");
  const auto c = drawn<tensor<float, batch, seq>>(1, batch{2}, seq{3});
  const auto d = drawn<tensor<float, batch, seq>>(1, batch{1}, seq{3});
  CHECK(thrown<extent_error>([&] { (void)concat<seq>(std::vector{c, d}); }) ==
        "concat: dimension batch has extent 2 in one operand and 1 in another (R15); element 1 of the vector is the "
        "first that differs from those before it");
}

TEST_CASE("unstack gives the elements") {
  const auto x = drawn<tensor<float, batch, seq, d_k>>(1, batch{2}, seq{3});
  const std::vector<expr<float, shape<batch, d_k>>> all = unstack<seq>(x);
  CHECK(all.size() == 3);
  CHECK(numbers(all[1]) == numbers(at<seq>(x, 1)));
  CHECK(numbers(stack<seq>(all)) == numbers(dimwise::permute<seq, batch, d_k>(x)));
  std::size_t calls = 0;
  const auto counted = unstack<seq>(dimwise::map([&calls](float a) {
    ++calls;
    return a;
  }, x));
  for (const auto& each : counted) { (void)evaluate(each); }
  CHECK(calls == x.size());
  CHECK(unstack<seq>(tensor<float, seq, d_k>()).empty());
}

TEST_CASE("replace_at and assign_at change the elements of one position, or of several") {
  const auto x = drawn<tensor<float, batch, seq, d_k>>(1, batch{2}, seq{4});
  const auto one = drawn<tensor<float, d_k, batch>>(2, batch{2});
  const auto two = drawn<tensor<float, seq, batch, d_k>>(3, batch{2}, seq{2});
  const auto replaced = [&](std::size_t first, std::size_t count, const auto& part) {
    tensor<float, batch, seq, d_k> y = x;
    for (std::size_t b = 0; b < 2; ++b) {
      for (std::size_t s = first; s < first + count; ++s) {
        for (std::size_t d = 0; d < 4; ++d) {
          y.set(part(b, s - first, d), dimwise::id<batch>(b), dimwise::id<seq>(s), dimwise::id<d_k>(d));
        }
      }
    }
    return y;
  };
  const auto of_one = replaced(2, 1, [&](auto b, auto, auto d) { return el(one, d, b); });
  const auto of_two = replaced(1, 2, [&](auto b, auto s, auto d) { return el(two, s, b, d); });
  CHECK(numbers(replace_at<seq>(x, 2, one)) == numbers(of_one));
  CHECK(numbers(replace_at<seq>(x, dimwise::id<seq>(2), one) * 2.0F) == numbers(of_one * 2.0F));
  CHECK(numbers(replace_at<seq>(x, 1, two)) == numbers(of_two));
  CHECK(numbers(replace_at<seq>(expr(x), 1, expr(two))) == numbers(of_two));
  tensor<float, batch, seq, d_k> y = x;
  const tensor before = y;
  assign_at<seq>(y, 2, one);
  CHECK(numbers(y) == numbers(of_one));
  CHECK(numbers(before) == numbers(x));
  y = x;
  assign_at<seq>(y, 1, two * 1.0F);
  CHECK(numbers(y) == numbers(of_two));
  y = x;
  assign_at<seq>(y, 0, at<seq>(y, 3));
  CHECK(numbers(at<seq>(y, 0)) == numbers(at<seq>(x, 3)));
  std::vector<float> memory(x.values().begin(), x.values().end());
  tensor_view<float, batch, seq, d_k> view(memory, batch{2}, seq{4});
  assign_at<seq>(view, 2, one);
  CHECK(numbers(view) == numbers(of_one));
  tensor<double, seq> wide({1, 2, 3}, seq{3});
  assign_at<seq>(wide, 1, tensor<float>(7.0F));
  CHECK(wide.data()[1] == 7);
  tensor<dimwise::id<vocab>, seq> words({dimwise::id<vocab>(1), dimwise::id<vocab>(2)}, seq{2});
  assign_at<seq>(words, 1, at<seq>(words, 0));
  CHECK(words.data()[1] == dimwise::id<vocab>(1));
}

TEST_CASE("elements outside, and of other positions") {
  auto x = drawn<tensor<float, seq, d_k>>(1, starting_at(seq{4}, 10));
  const auto one = drawn<tensor<float, d_k>>(2);
  const auto two = drawn<tensor<float, seq, d_k>>(3, starting_at(seq{2}, 12));
  const tensor before = x;
  assign_at<seq>(x, 2, two);
  CHECK(thrown<origin_error>([&] { assign_at<seq>(x, 1, two); }) ==
        "assign_at: the elements begin at position 12 of dimension seq, and element 1 that they replace is at position "
        "11 (R18)");
  CHECK(thrown<origin_error>([&] { (void)replace_at<seq>(x, 1, two); }) != "");
  CHECK(thrown<index_error>([&] { assign_at<seq>(x, 4, one); }) ==
        "assign_at: 1 elements from 4 on are outside dimension seq of extent 4 (R18)");
  CHECK(thrown<index_error>([&] { (void)replace_at<seq>(x, 3, two); }) != "");
  CHECK(thrown<index_error>([&] { (void)replace_at<seq>(x, -1, one); }) ==
        "replace_at: -1 is outside dimension seq of extent 4 (R18)");
  auto y = drawn<tensor<float, batch, seq>>(1, batch{2}, seq{3});
  const auto other = drawn<tensor<float, batch>>(2, batch{3});
  CHECK(thrown<extent_error>([&] { assign_at<seq>(y, 1, other); }) ==
        "assign_at: dimension batch has extent 2 in one operand and 3 in another (R15)");
}

TEST_CASE("unroll with a stride: every second window, or fewer") {
  const auto x = drawn<tensor<float, seq, d_k>>(1, seq{9});
  const auto check = [&](auto by, std::size_t count) {
    constexpr std::size_t apart = decltype(by)::value;
    const auto y = unroll<seq, window>(x, stride<apart>{});
    CHECK(dimwise::extent_of<seq>(y) == count);
    return agrees(y, {count, 3, 4}, 0, [&](auto w, auto i, auto d) { return double{el(x, w * apart + i, d)}; });
  };
  CHECK(check(std::integral_constant<std::size_t, 1>{}, 7) == "");
  CHECK(check(std::integral_constant<std::size_t, 2>{}, 4) == "");
  CHECK(check(std::integral_constant<std::size_t, 3>{}, 3) == "");
  CHECK(check(std::integral_constant<std::size_t, 7>{}, 1) == "");
  CHECK(numbers(unroll<seq, step>(x, step{2}, stride<4>{})).size() == 2 * 2 * 4);
  CHECK(numbers(unroll<seq>(x, step{2}, stride<4>{})).size() == 2 * 2 * 4);
  const auto fixed = drawn<tensor<float, eight>>(2);
  CHECK(numbers(unroll<eight, window, three>(fixed, stride<2>{})).size() == 9);
  CHECK(thrown<extent_error>([&] { (void)unroll<seq, step>(x, step{10}, stride<2>{}); }) ==
        "unroll: a window of 10 does not fit dimension seq of extent 9 (R13)");
  const auto held = drawn<tensor<float, seq>>(1, starting_at(seq{9}, 3));
  CHECK(evaluate(unroll<seq, window>(held)).extents().of_atom<seq>().origin == 3);
  CHECK(evaluate(unroll<seq, window>(held, stride<2>{})).extents().of_atom<seq>().origin !=
        3);  // windows are not positions of the sequence
}

}  // namespace

// tests/tensor/moves.test.cpp -- what copies, moves and swaps leave behind, for every kind of storage.
//
// SPDX-License-Identifier: BSL-1.0
#include "support/dims.hpp"
#include "support/numbers.hpp"
#include "support/threads.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using namespace dims;
using namespace dimwise_test;
using dimwise::id;
using dimwise::summed;
using dimwise::tensor;

struct wide : dimwise::feature_dim<100> {};
struct cls : dimwise::position_dim<1> {};
struct patches : dimwise::position_dim<> {};
struct lines : dimwise::packed_dim<> {};

// In the object; on the heap and static; of the run; of the run with a static part, which is never empty.
struct in_object {
  using type = tensor<float, heads, d_k>;
  static type make() { return drawn<type>(1); }
};
struct on_the_heap {
  using type = tensor<float, heads, wide>;
  static type make() { return drawn<type>(2); }
};
struct of_the_run {
  using type = tensor<float, seq, d_k>;
  static type make() { return drawn<type>(3, seq{5}); }
};
struct of_both {
  using type = tensor<float, summed<cls, patches>, d_k>;
  static type make() { return drawn<type>(4, patches{3}); }
};

template <class X>
std::vector<float> elements(const X& x) {
  return {x.values().begin(), x.values().end()};
}

// Every member of a tensor can be called, and what it says agrees with its memory.
template <class X>
void check_usable(X& x) {
  const X& same = x;
  CHECK(same.size() == same.values().size());
  float total = 0;
  for (const float value : same.values()) { total += value; }
  CHECK(total == total);
  const X copy = x;
  CHECK(elements(copy) == elements(x));
  const X doubled = copy * 2;
  CHECK(doubled.size() == copy.size());
  x.fill(1);
  CHECK(elements(x) == std::vector<float>(x.size(), 1.0F));
  std::fill_n(x.data(), x.size(), 2.0F);
  x.seal();
  CHECK(elements(x) == std::vector<float>(x.size(), 2.0F));
  x.assign(std::vector<float>(x.size(), 3.0F));
  CHECK(elements(x) == std::vector<float>(x.size(), 3.0F));
}

// What may be done first with a tensor that was moved from: `way` says which.
constexpr int ways = 9;
template <class X>
void check_moved_from(X& x, int way) {
  const X& same = x;
  if (way == 0) {
    check_usable(x);
  } else if (way == 1) {
    std::fill_n(x.data(), x.size(), 4.0F);
    CHECK(elements(x) == std::vector<float>(x.size(), 4.0F));
  } else if (way == 2) {
    x.fill(1);
    CHECK(elements(x) == std::vector<float>(x.size(), 1.0F));
  } else if (way == 3) {
    // As newly made; a small one keeps its elements.
    if (!std::is_same_v<X, in_object::type>) { CHECK(elements(same) == elements(X())); }
  } else if (way == 4) {
    const X sum = x + x;
    CHECK(sum.size() == x.size());
  } else if (way == 5) {
    const dimwise::detail::view_of<const float, typename X::shape_type> view(x);
    CHECK(view.size() == x.size());
    if (view.size() > 0) { CHECK(view.data() != nullptr); }
  } else if (way == 6) {
    X copy = x;
    check_usable(copy);
    X assigned;
    assigned = x;
    check_usable(assigned);
  } else if (way == 7) {
    X other = std::move(x);
    check_usable(other);
    check_usable(x);
  } else {
    std::vector<std::thread> team;
    std::vector<std::vector<float>> seen(4);
    for (std::vector<float>& s : seen) {
      team.emplace_back([&same, &s] {
        const X copy = same;
        s = elements(same);
        if (elements(copy) != s) { s.clear(); }
      });
    }
    for (std::thread& t : team) { t.join(); }
    for (const std::vector<float>& s : seen) { CHECK(s == elements(same)); }
  }
}

}  // namespace

TEST_CASE_TEMPLATE("moves: what was moved from can be used, by threads too; what it was is in the other" *
                       support::threads,
                   Case, in_object, on_the_heap, of_the_run, of_both) {
  using X = typename Case::type;
  for (int way = 0; way < 4 * ways; ++way) {
    CAPTURE(way);
    X x = Case::make();
    const std::vector<float> before = elements(x);
    if (way % 2 == 0) { (void)x.data(); }
    if (way / 2 % 2 == 0) {
      X y = std::move(x);
      CHECK(elements(y) == before);
      check_moved_from(x, way / 4);
      CHECK(elements(y) == before);
    } else {
      X y;
      y = std::move(x);
      CHECK(elements(y) == before);
      check_moved_from(x, way / 4);
      CHECK(elements(y) == before);
    }
  }
}

TEST_CASE_TEMPLATE("moves: to itself changes nothing, a swap changes both", Case, in_object, on_the_heap, of_the_run,
                   of_both) {
  using X = typename Case::type;
  for (const bool handed_out : {false, true}) {
    CAPTURE(handed_out);
    X x = Case::make();
    if (handed_out) { (void)x.data(); }
    const std::vector<float> before = elements(x);
    X& same = x;
    x = std::move(same);
    CHECK(elements(x) == before);
    x = same;
    CHECK(elements(x) == before);
    std::swap(x, same);
    CHECK(elements(x) == before);
    X y = x * 2;
    const std::vector<float> doubled = elements(y);
    std::swap(x, y);
    CHECK(elements(x) == doubled);
    CHECK(elements(y) == before);
    check_usable(x);
    CHECK(elements(y) == before);
  }
}

TEST_CASE_TEMPLATE("moves: a pointer from data() goes with the elements, and stays after an assignment to itself", Case,
                   on_the_heap, of_the_run, of_both) {
  using X = typename Case::type;
  X x = Case::make();
  float* const p = x.data();
  X& same = x;
  x = same;
  p[0] = 7;
  CHECK(x.values()[0] == 7);
  X y = std::move(x);
  p[0] = 8;
  CHECK(y.values()[0] == 8);
  if (x.size() > 0) { CHECK(x.values()[0] != 8); }
  const X copy = y;
  p[0] = 9;
  CHECK(copy.values()[0] == 8);
  y.seal();
  const X shared = y;
  CHECK(shared.data() == static_cast<const X&>(y).data());
}

TEST_CASE("moves: an expression, a mask, and an extent that were moved from say what they said") {
  const auto x = drawn<tensor<float, seq, d_k>>(3, seq{5});
  auto e = x * 2;
  const auto taken = std::move(e);
  CHECK(elements(tensor<float, seq, d_k>(e)) == elements(tensor<float, seq, d_k>(taken)));
  auto sliced = dimwise::at<seq>(x, 1) + dimwise::at<seq>(x, 2);
  const auto taken_slice = std::move(sliced);
  CHECK(elements(dimwise::evaluate(sliced)) == elements(dimwise::evaluate(taken_slice)));

  auto lengths = dimwise::padding<key>(tensor<int, batch>({1, 2}, batch{2}));
  const auto taken_mask = std::move(lengths);
  const auto s = drawn<tensor<float, batch, seq, key>>(4, batch{2}, seq{2}, key{3});
  CHECK(elements(dimwise::evaluate(dimwise::softmax<key>(dimwise::masked(s, lengths)))) ==
        elements(dimwise::evaluate(dimwise::softmax<key>(dimwise::masked(s, taken_mask)))));

  auto packed = lines{{3, 4}};
  const auto taken_extent = std::move(packed);
  CHECK(packed.documents() == taken_extent.documents());
  CHECK(packed.documents().known());
  tensor<float, lines> of_documents(packed);
  const auto taken_tensor = std::move(of_documents);
  CHECK(taken_tensor.extents().documents<lines>().total() == 7);
}

// What the types promise is what they do: moving never throws, copying does where it may need memory.
TEST_CASE("moves: noexcept says the truth") {
  static_assert(std::is_nothrow_move_constructible_v<in_object::type>);
  static_assert(std::is_nothrow_move_assignable_v<in_object::type>);
  static_assert(std::is_nothrow_copy_constructible_v<in_object::type>);
  static_assert(std::is_nothrow_copy_assignable_v<in_object::type>);
  static_assert(std::is_nothrow_move_constructible_v<on_the_heap::type>);
  static_assert(std::is_nothrow_move_assignable_v<on_the_heap::type>);
  static_assert(!std::is_nothrow_copy_constructible_v<on_the_heap::type>);
  static_assert(!std::is_nothrow_copy_assignable_v<on_the_heap::type>);
  static_assert(std::is_nothrow_move_constructible_v<of_the_run::type>);
  static_assert(std::is_nothrow_move_assignable_v<of_the_run::type>);
  static_assert(!std::is_nothrow_copy_constructible_v<of_the_run::type>);
  static_assert(!std::is_nothrow_copy_assignable_v<of_the_run::type>);
  static_assert(std::is_nothrow_swappable_v<of_the_run::type> && std::is_nothrow_swappable_v<on_the_heap::type>);
  static_assert(std::is_nothrow_copy_constructible_v<dimwise::segments> &&
                std::is_nothrow_copy_assignable_v<dimwise::segments>);
  static_assert(std::is_nothrow_copy_constructible_v<lines> && std::is_nothrow_copy_assignable_v<seq>);
  static_assert(std::is_nothrow_copy_constructible_v<of_the_run::type::extents_type>);
  static_assert(std::is_nothrow_copy_constructible_v<dimwise::extent_error> &&
                std::is_nothrow_copy_assignable_v<dimwise::extent_error>);
}

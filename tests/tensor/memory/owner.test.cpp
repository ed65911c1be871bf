// SPDX-License-Identifier: BSL-1.0
#include <dimwise/tensor/memory/owner.hpp>

#include <doctest/doctest.h>

#include <functional>
#include <type_traits>
#include <utility>

using dimwise::detail::function_copy;
using dimwise::detail::owner;

namespace {

int alive = 0;
struct counted {
  counted() { ++alive; }
  counted(const counted&) { ++alive; }
  counted& operator=(const counted&) = default;
  virtual ~counted() { --alive; }
  virtual int number() const { return 1; }
};
struct derived final : counted {
  int number() const override { return 2; }
};
int twice(int x) { return 2 * x; }
using function = function_copy<int(int)>;

}  // namespace

TEST_CASE("an owner deletes what it owns once") {
  static_assert(!std::is_copy_constructible_v<owner<counted>> && !std::is_copy_assignable_v<owner<counted>>);
  {
    owner<counted> first(new counted);
    owner<counted> second(owner<derived>(new derived));
    CHECK(alive == 2);
    first = std::move(second);
    CHECK(first->number() == 2);
    owner<counted> third(std::move(first));
    CHECK(first.get() == nullptr);
    CHECK((*third).number() == 2);
    third = {};
    CHECK(third.get() == nullptr);
  }
  CHECK(alive == 0);
}

TEST_CASE("a function is copied with what it captured") {
  static_assert(!std::is_constructible_v<function, int> && !std::is_constructible_v<function, void (*)(int, int)>);
  {
    function add;
    CHECK(!add);
    add = [of = counted()](int x) { return x + of.number(); };
    function other = add;
    CHECK(alive == 2);
    add = &twice;
    CHECK(alive == 1);
    CHECK(add(4) == 8);
    CHECK(other(4) == 5);
    const function by_name = twice;
    CHECK(by_name(5) == 10);
    other = std::move(add);
    CHECK(other(3) == 6);
  }
  CHECK(alive == 0);
}

namespace {
struct converts_to_zero {
  int operator()(int x) const { return x; }
  operator double() const { return 0; }
  int state = 0;
};
}  // namespace

TEST_CASE("a copy of an empty function is empty") {
  static_assert(!std::is_constructible_v<function_copy<int(const converts_to_zero&)>, int converts_to_zero::*>);
  CHECK(static_cast<bool>(function(converts_to_zero())));
  CHECK(!function(std::function<int(int)>()));
  CHECK(!function(static_cast<int (*)(int)>(nullptr)));
  CHECK(!function(function()));
  CHECK(function(std::function<int(int)>(&twice))(5) == 10);
}

// tests/shape/list.test.cpp -- lists of types: what the rules are made of.
// SPDX-License-Identifier: BSL-1.0
#include <dimwise/support/list.hpp>
#include <dimwise/support/name.hpp>

#include <doctest/doctest.h>

namespace list_test {
namespace {

using namespace dimwise::detail;

struct a;
struct b;
struct c;
struct d;
struct e;

static_assert(list<>::size == 0 && list<a, b>::size == 2);
static_assert(is_any_of<a, b, a> && !is_any_of<a, b, c> && !is_any_of<a>);
static_assert(is_in<b, list<a, b>> && !is_in<c, list<a, b>> && !is_in<a, list<>>);
static_assert(index_in<a, list<a, b>> == 0 && index_in<b, list<a, b>> == 1 && index_in<c, list<a, b>> == 2 &&
              index_in<a, list<>> == 0);

// Joined in order, however many.
static_assert(std::is_same_v<join_t<>, list<>>);
static_assert(std::is_same_v<join_t<list<a>>, list<a>>);
static_assert(std::is_same_v<join_t<list<a>, list<b>>, list<a, b>>);
static_assert(std::is_same_v<join_t<list<a>, list<>, list<b, c>>, list<a, b, c>>);
static_assert(std::is_same_v<join_t<list<a>, list<b>, list<c>, list<d>>, list<a, b, c, d>>);
static_assert(
    std::is_same_v<join_t<list<a>, list<b>, list<c>, list<d>, list<e>, list<a>, list<b>>, list<a, b, c, d, e, a, b>>);

// Set operations keep the order of the left list.
static_assert(std::is_same_v<difference_t<list<a, b, c>, list<b>>, list<a, c>>);
static_assert(std::is_same_v<difference_t<list<a>, list<>>, list<a>> &&
              std::is_same_v<difference_t<list<>, list<a>>, list<>>);
static_assert(std::is_same_v<intersection_t<list<a, b, c>, list<c, a>>, list<a, c>>);
static_assert(std::is_same_v<union_t<list<a, b>, list<c, b>>, list<a, b, c>>);
static_assert(is_subset<list<>, list<>> && is_subset<list<a>, list<b, a>> && !is_subset<list<a, c>, list<b, a>>);
static_assert(is_disjoint<list<a>, list<b>> && is_disjoint<list<>, list<b>> && !is_disjoint<list<a, b>, list<b>>);
static_assert(same_set<list<a, b>, list<b, a>> && !same_set<list<a, b>, list<a>> && !same_set<list<a>, list<a, b>> &&
              !same_set<list<a, b>, list<a, c>>);

static_assert(all_distinct(list<>{}) && all_distinct(list<a>{}) && all_distinct(list<a, b, c>{}));
static_assert(!all_distinct(list<a, a>{}) && !all_distinct(list<a, b, a>{}) && !all_distinct(list<a, b, b, c>{}));
static_assert(std::is_same_v<unique_t<list<a, b, a, c, b>>, list<a, b, c>> && std::is_same_v<unique_t<list<>>, list<>>);

static_assert(std::is_same_v<replace_t<list<a, b, c>, b, list<d, e>>, list<a, d, e, c>>);
static_assert(std::is_same_v<replace_t<list<a, b>, b, list<>>, list<a>> &&
              std::is_same_v<replace_t<list<a>, b, list<c>>, list<a>>);
static_assert(std::is_same_v<element_t<0, list<a, b, c>>, a> && std::is_same_v<element_t<2, list<a, b, c>>, c>);
static_assert(std::is_same_v<list_if<true, a>, list<a>> && std::is_same_v<list_if<false, a>, list<>>);

// Types are ordered by their names, strictly.
static_assert(name_before<a, b>() && !name_before<b, a>() && !name_before<a, a>());
struct bb;
static_assert(name_before<b, bb>() && !name_before<bb, b>());

TEST_CASE("shape: lists of types") { CHECK(list<a, b>::size == 2); }

}  // namespace
}  // namespace list_test

// tests/shape/hana.test.cpp -- Hana code walks dimensions and marks as values.
// SPDX-License-Identifier: BSL-1.0
#include "vocabulary.hpp"
#include <dimwise/shape/hana.hpp>

#include <boost/hana.hpp>
#include <doctest/doctest.h>

namespace shape_test {
namespace {

namespace hana = boost::hana;

using S = shape<batch, heads, seq, key, score<d_k>, masked_for<key>>;

struct shaped_thing {
  using shape_type = S;
};

// The dimensions in memory order, the marks in canonical order, of a shape and of what has one.
constexpr auto dims = dims_of(hana::type_c<S>);
constexpr auto marks = marks_of(hana::type_c<S>);
static_assert(dims == hana::tuple_t<batch, heads, seq, key>);
static_assert(marks == hana::tuple_t<score<d_k>, masked_for<key>>);
static_assert(dims_of(shaped_thing{}) == dims && marks_of(shaped_thing{}) == marks);
static_assert(dims_of(hana::type_c<shape<>>) == hana::make_tuple());
static_assert(hana::size(dims) == hana::size_c<4>);

// Hana's algorithms see types: filter by a kind, transform to extents, look something up.
constexpr auto is_parallel = [](auto d) {
  return hana::bool_c<has_any(decltype(d)::type::abilities, ability::parallel)>;
};
static_assert(hana::filter(dims, is_parallel) == hana::tuple_t<batch, heads>);
static_assert(hana::contains(dims, hana::type_c<seq>) && !hana::contains(dims, hana::type_c<src>));
constexpr auto extents = hana::transform(dims_of(hana::type_c<shape<d_model, heads, seq>>),
                                         [](auto d) { return decltype(d)::type::static_extent; });
static_assert(extents == hana::make_tuple(extent_t{12}, extent_t{3}, at_run_time));

// has_dims: exactly these, in any order, with any marks, through references.
static_assert(has_dims<shaped_thing, key, seq, heads, batch>);
static_assert(has_dims<const shaped_thing&, batch, heads, seq, key>);
static_assert(!has_dims<shaped_thing, batch, heads, seq> && !has_dims<shaped_thing, batch, heads, seq, key, d_k> &&
              !has_dims<shaped_thing, batch, heads, seq, src>);
static_assert(!has_dims<int> && !has_dims<int, seq>);
static_assert(shaped<shaped_thing> && !shaped<int>);

TEST_CASE("shape: hana::for_each walks the dimensions of a shape") {
  int count = 0;
  int positions = 0;
  hana::for_each(dims, [&](auto d) {
    using D = typename decltype(d)::type;
    ++count;
    if (has_any(D::abilities, ability::ordered)) { ++positions; }
  });
  CHECK(count == 4);
  CHECK(positions == 2);
  hana::for_each(marks, [&](auto) { ++count; });
  CHECK(count == 6);
}

}  // namespace
}  // namespace shape_test

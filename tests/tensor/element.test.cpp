// tests/tensor/element.test.cpp -- the kinds of elements.
// SPDX-License-Identifier: BSL-1.0
#include <dimwise/dimwise.hpp>

#include <doctest/doctest.h>

namespace {

using namespace dimwise;

struct word : feature_dim<> {};
struct own {};

static_assert(element_kind_of<float> == element_kind::real && element_kind_of<double> == element_kind::real);
static_assert(element_kind_of<bool> == element_kind::truth);
static_assert(element_kind_of<int> == element_kind::whole && element_kind_of<unsigned char> == element_kind::whole);
static_assert(element_kind_of<bfloat16> == element_kind::stored && element_kind_of<float16> == element_kind::stored);
static_assert(element_kind_of<int4_pair> == element_kind::stored);
static_assert(element_kind_of<id<word>> == element_kind::other && element_kind_of<own> == element_kind::other);

static_assert(real_element<const float> && !real_element<int> && !real_element<bfloat16>);
static_assert(whole_element<int> && !whole_element<bool>);
static_assert(stored_element<float16> && !stored_element<float>);

}  // namespace

TEST_CASE("a real element is what arithmetic is for") {
  const tensor<double, word> x({1.0, 3.0}, word{2});
  const tensor<double> m = mean<word>(x);
  CHECK(m.values()[0] == 2.0);
}

// tests/laws/softmax.test.cpp -- laws of softmax, masks and reductions, over generated extents.
//
// SPDX-License-Identifier: BSL-1.0
#include "support/dims.hpp"
#include "support/numbers.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

namespace {

using namespace dims;
using namespace dimwise_test;
using dimwise::masked;
using dimwise::normalised;
using dimwise::padding;
using dimwise::permute;
using dimwise::slice;
using dimwise::softmax;
using dimwise::sum;
using dimwise::tensor;

using table = tensor<float, batch, seq, key>;
using weights = tensor<float, batch, seq, key, normalised<key>>;

std::size_t extent(std::size_t from = 0) { return *rc::gen::inRange<std::size_t>(from, 9); }
unsigned seed() { return *rc::gen::inRange(0U, 1000000U); }
table any_table(std::size_t least = 0) {
  return drawn<table>(seed(), batch{extent()}, seq{extent()}, key{extent(least)});
}

// Rows of up to 8 exponentials of numbers in [−1, 1).
const double tolerance = float32(32);

}  // namespace

TEST_CASE("law: weights sum to one") {
  CHECK(rc::check("sum<d>(softmax<d>(x)) = 1", [] {
    const tensor<float, batch, seq> total = sum<key>(softmax<key>(any_table(1)));
    RC_ASSERT((differences(total, extents_of(total), tolerance, [](auto, auto) { return 1; }) == ""));
  }));
}

TEST_CASE("law: softmax is invariant under shifts of whole rows") {
  CHECK(rc::check("softmax<d>(x + c) = softmax<d>(x), c without d", [] {
    const auto x = any_table();
    const auto shift =
        drawn<tensor<float, seq, batch>>(seed(), batch{dimwise::extent_of<batch>(x)}, seq{dimwise::extent_of<seq>(x)});
    // x + c rounds x to 2^-24 of its size.
    RC_ASSERT((differ<tensor<float, batch, seq, key, normalised<key>>>(softmax<key>(x + shift * 8), softmax<key>(x),
                                                                       8 * tolerance) == ""));
  }));
}

TEST_CASE("law: softmax follows a permutation, and knows nothing of other dimensions") {
  CHECK(rc::check("softmax<d>(permute(x)) = permute(softmax<d>(x))", [] {
    const auto x = any_table();
    RC_ASSERT((differ(weights(softmax<key>(permute<key, seq, batch>(x))), weights(softmax<key>(x)), tolerance) == ""));
    const std::size_t n = dimwise::extent_of<seq>(x);
    RC_ASSERT((differ(weights(softmax<key>(slice<seq>(x, n / 2, n - n / 2))),
                      weights(slice<seq>(softmax<key>(x), n / 2, n - n / 2)), tolerance) == ""));
  }));
}

TEST_CASE("law: softmax of several dimensions is softmax of their product") {
  CHECK(rc::check("softmax<a, b>(x) = split(softmax<merged<a, b>>(merge(x)))", [] {
    const auto x = any_table();
    const tensor<float, batch, seq, key> one = dimwise::plain(softmax<seq, key>(x));
    const tensor<float, batch, seq, key> other =
        dimwise::split<seq, key>(dimwise::plain(softmax<dimwise::merged<seq, key>>(dimwise::merge<seq, key>(x))));
    RC_ASSERT((differ(one, other, tolerance) == ""));
  }));
}

TEST_CASE("law: what is masked might as well not be there") {
  CHECK(rc::check("softmax of n visible keys = softmax of the slice of n", [] {
    const auto x = any_table();
    const std::size_t all = dimwise::extent_of<key>(x);
    const std::size_t n = all == 0 ? 0 : *rc::gen::inRange<std::size_t>(0, all + 1);
    const auto hidden = softmax<key>(masked(x, padding<key>(n)));
    RC_ASSERT((differ<table>(slice<key>(dimwise::plain(hidden), 0, n),
                             dimwise::plain(softmax<key>(slice<key>(x, 0, n))), tolerance) == ""));
    RC_ASSERT((differ<tensor<float, batch, seq>>(sum<key>(x, padding<key>(n)), sum<key>(slice<key>(x, 0, n)),
                                                 tolerance) == ""));
    RC_ASSERT((differ<tensor<float, batch, seq>>(dimwise::max<key>(x, padding<key>(n)),
                                                 dimwise::max<key>(slice<key>(x, 0, n))) == ""));
    const auto v = drawn<tensor<float, batch, key, d_v>>(seed(), batch{dimwise::extent_of<batch>(x)}, key{all});
    RC_ASSERT((differ<tensor<float, batch, seq, d_v>>(
                   dimwise::contract<key>(hidden, v),
                   dimwise::contract<key>(softmax<key>(slice<key>(x, 0, n)), slice<key>(v, 0, n)), tolerance) == ""));
  }));
}

TEST_CASE("law: masks obey De Morgan, and a mask or its opposite allows everything") {
  CHECK(rc::check("!(a & b) = !a | !b", [] {
    const seq s{extent()};
    const key t{s.extent()};
    const auto a = dimwise::allow(drawn<tensor<bool, key, seq>>(seed(), s, t));
    const dimwise::causal<seq, key> b;
    const auto as_numbers = [&](const auto& m) { return tensor<float, seq, key>(dimwise::indicator(m, s, t)); };
    RC_ASSERT((differ(as_numbers(!(a & b)), as_numbers((!a) | (!b))) == ""));
    RC_ASSERT((differ(as_numbers(!(a | b)), as_numbers((!a) & (!b))) == ""));
    RC_ASSERT((differ(as_numbers(a & b), as_numbers(b & a)) == ""));
    RC_ASSERT((differences(as_numbers(a | (!a)), {s.extent(), t.extent()}, 0, [](auto, auto) { return 1; }) == ""));
  }));
}

TEST_CASE("law: reductions over two dimensions are one after the other") {
  CHECK(rc::check("sum<a, b> = sum<a> sum<b>, likewise max and mean", [] {
    const auto x = any_table(1);
    RC_ASSERT((differ<tensor<float, batch>>(sum<seq, key>(x), sum<seq>(sum<key>(x)), 4 * tolerance) == ""));
    RC_ASSERT((differ<tensor<float, batch>>(dimwise::max<seq, key>(x), dimwise::max<key>(dimwise::max<seq>(x))) == ""));
    RC_ASSERT((differ<tensor<float, batch>>(dimwise::logsumexp<seq, key>(x),
                                            dimwise::logsumexp<seq>(dimwise::logsumexp<key>(x)), tolerance) == ""));
    RC_ASSERT((differ(table(dimwise::plain(dimwise::log_softmax<key>(x))), table(log(dimwise::plain(softmax<key>(x)))),
                      tolerance) == ""));
  }));
}

// tests/laws/contract.test.cpp -- laws of products, over generated extents.
//
// SPDX-License-Identifier: BSL-1.0
#include "support/dims.hpp"
#include "support/numbers.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

namespace {

using namespace dims;
using namespace dimwise_test;
using dimwise::contract;
using dimwise::tensor;

struct hidden : dimwise::feature_dim<> {};

std::size_t extent() { return *rc::gen::inRange<std::size_t>(0, 9); }
unsigned seed() { return *rc::gen::inRange(0U, 1000000U); }

// Sums of up to 64 products of magnitude 1, computed in two orders.
const double tolerance = float32(256);

}  // namespace

TEST_CASE("law: contraction is commutative") {
  CHECK(rc::check("contract<d>(a, b) = contract<d>(b, a)", [] {
    const batch b{extent()};
    const width w{extent()};
    const auto x = drawn<tensor<float, seq, batch, width>>(seed(), b, seq{extent()}, w);
    const auto y = drawn<tensor<float, width, vocab, batch>>(seed(), b, w, vocab{extent()});
    RC_ASSERT(
        (differ<tensor<float, batch, seq, vocab>>(contract<width>(x, y), contract<width>(y, x), tolerance) == ""));
  }));
}

TEST_CASE("law: contraction is associative where neither dimension is the third operand's") {
  // Chiang, Rush and Barak, Named Tensor Notation: (A ⊙_d B) ⊙_e C = A ⊙_d (B ⊙_e C) if d is not in C and e not in A.
  CHECK(rc::check("contract<e>(contract<d>(a, b), c) = contract<d>(a, contract<e>(b, c))", [] {
    const width d{extent()};
    const hidden e{extent()};
    const batch b{extent()};
    const auto x = drawn<tensor<float, batch, seq, width>>(seed(), b, seq{extent()}, d);
    const auto y = drawn<tensor<float, hidden, width>>(seed(), d, e);
    const auto z = drawn<tensor<float, hidden, batch, vocab>>(seed(), b, e, vocab{extent()});
    RC_ASSERT((differ<tensor<float, batch, seq, vocab>>(contract<hidden>(contract<width>(x, y), z),
                                                        contract<width>(x, contract<hidden>(y, z)), tolerance) == ""));
  }));
}

TEST_CASE("law: two contractions, one after the other, are one over both dimensions") {
  CHECK(rc::check("sum<e>(a * b) over d, e = contract<d, e>(a, b)", [] {
    const width d{extent()};
    const hidden e{extent()};
    const auto x = drawn<tensor<float, seq, width, hidden>>(seed(), seq{extent()}, d, e);
    const auto y = drawn<tensor<float, hidden, width>>(seed(), d, e);
    const tensor<float, seq> both = contract<width, hidden>(x, y);
    RC_ASSERT((differ<tensor<float, seq>>(both, contract<hidden, width>(y, x), tolerance) == ""));
    RC_ASSERT((differ<tensor<float, seq>>(both, dimwise::sum<width>(dimwise::sum<hidden>(x * y)), tolerance) == ""));
    RC_ASSERT((differ<tensor<float, seq>>(both,
                                          contract<dimwise::merged<width, hidden>>(dimwise::merge<width, hidden>(x),
                                                                                   dimwise::merge<width, hidden>(y)),
                                          tolerance) == ""));
  }));
}

TEST_CASE("law: contraction is linear in each operand") {
  CHECK(rc::check("contract(a + s b, c) = contract(a, c) + s contract(b, c)", [] {
    const width d{extent()};
    const seq s{extent()};
    const auto x = drawn<tensor<float, seq, width>>(seed(), s, d);
    const auto y = drawn<tensor<float, width, seq>>(seed(), s, d);
    const auto w = drawn<tensor<float, width, vocab>>(seed(), d, vocab{extent()});
    RC_ASSERT(
        (differ<tensor<float, seq, vocab>>(contract<width>(x + 0.5F * y, w),
                                           contract<width>(x, w) + 0.5F * contract<width>(y, w), tolerance) == ""));
  }));
}

TEST_CASE("law: an outer product contracted is a product of sums") {
  CHECK(rc::check("sum<a, b>(outer(x, y)) = sum<a>(x) sum<b>(y)", [] {
    const auto x = drawn<tensor<float, seq>>(seed(), seq{extent()});
    const auto y = drawn<tensor<float, vocab>>(seed(), vocab{extent()});
    const tensor<float> whole = dimwise::sum<seq, vocab>(dimwise::outer(x, y));
    const tensor<float> parts = dimwise::sum<seq>(x) * dimwise::sum<vocab>(y);
    RC_ASSERT((differ(whole, parts, tolerance) == ""));
  }));
}

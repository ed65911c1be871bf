// tests/laws/lifting.test.cpp -- an operation on tensors with batch and heads is a loop over their slices.
//
// SPDX-License-Identifier: BSL-1.0
#include "support/dims.hpp"
#include "support/numbers.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

namespace {

using namespace dims;
using namespace dimwise_test;
using dimwise::at;
using dimwise::causal;
using dimwise::contract;
using dimwise::masked;
using dimwise::scores;
using dimwise::softmax;
using dimwise::tensor;

std::size_t extent() { return *rc::gen::inRange<std::size_t>(1, 7); }
unsigned seed() { return *rc::gen::inRange(0U, 1000000U); }

// The slices may be evaluated in another order than the whole: sums of up to 6 products each.
const double tolerance = float32(64);

}  // namespace

TEST_CASE("law: attention over batch and heads is attention of every slice") {
  CHECK(rc::check("at<b, h>(attention(q, k, v)) = attention(at<b, h>(q), at<b, h>(k), at<b, h>(v))", [] {
    const batch b{extent()};
    const branches h{extent()};
    const seq s{extent()};
    const key t{s.extent()};
    const narrow d{extent()};
    const auto q = drawn<tensor<float, batch, seq, branches, narrow>>(seed(), b, h, s, d);
    const auto k = drawn<tensor<float, branches, batch, key, narrow>>(seed(), b, h, t, d);
    const auto v = drawn<tensor<float, batch, branches, key, d_v>>(seed(), b, h, t);
    const auto attention = [](const auto& x, const auto& y, const auto& z) {
      return contract<key>(softmax<key>(masked(scores<narrow>(x, y), causal<seq, key>{})), z);
    };
    const tensor<float, batch, branches, seq, d_v> whole = attention(q, k, v);
    for (std::size_t i = 0; i < b.extent(); ++i) {
      for (std::size_t j = 0; j < h.extent(); ++j) {
        const auto slice = [&](const auto& x) { return at<branches>(at<batch>(x, i), j); };
        RC_ASSERT(
            (differ<tensor<float, seq, d_v>>(slice(whole), attention(slice(q), slice(k), slice(v)), tolerance) == ""));
      }
    }
  }));
}

TEST_CASE("law: norms, running sums, reductions and elementwise operations work on every slice") {
  CHECK(rc::check("at<b>(f(x)) = f(at<b>(x))", [] {
    const batch b{extent()};
    const seq s{extent()};
    const width w{extent()};
    const auto x = drawn<tensor<float, seq, batch, width>>(seed(), b, s, w);
    const auto bias = drawn<tensor<float, width>>(seed(), w);
    for (std::size_t i = 0; i < b.extent(); ++i) {
      const auto lifts = [&](const auto& f) {
        return differ<tensor<float, seq, width>>(at<batch>(f(x), i), f(at<batch>(x, i)), tolerance);
      };
      RC_ASSERT((lifts([](const auto& y) { return dimwise::layer_norm<width>(y, 0.1); }) == ""));
      RC_ASSERT((lifts([](const auto& y) { return dimwise::rms_norm<width>(y, 0.1); }) == ""));
      RC_ASSERT((lifts([](const auto& y) { return dimwise::cumsum<seq>(y); }) == ""));
      RC_ASSERT((lifts([](const auto& y) { return dimwise::cumprod<seq>(y); }) == ""));
      RC_ASSERT((lifts([](const auto& y) { return dimwise::sort<seq>(y); }) == ""));
      RC_ASSERT((lifts([&](const auto& y) { return dimwise::gelu(y * 2 - bias); }) == ""));
      RC_ASSERT((differ<tensor<float, width>>(at<batch>(dimwise::mean<seq>(x), i), dimwise::mean<seq>(at<batch>(x, i)),
                                              tolerance) == ""));
    }
  }));
}

TEST_CASE("law: a projection is applied to every position alone") {
  CHECK(rc::check("at<s>(contract<d>(x, w)) = contract<d>(at<s>(x), w)", [] {
    const width w{extent()};
    const seq s{extent()};
    const auto x = drawn<tensor<float, batch, seq, width>>(seed(), batch{extent()}, s, w);
    const auto weight = drawn<tensor<float, width, vocab>>(seed(), w, vocab{extent()});
    for (std::size_t i = 0; i < s.extent(); ++i) {
      RC_ASSERT((differ<tensor<float, batch, vocab>>(at<seq>(contract<width>(x, weight), i),
                                                     contract<width>(at<seq>(x, i), weight), tolerance) == ""));
    }
  }));
}

TEST_CASE("law: the same input for every element of a batch gives the same output") {
  CHECK(rc::check("f(broadcast<b>(x)) = broadcast<b>(f(x))", [] {
    const auto x = drawn<tensor<float, seq, key>>(seed(), seq{extent()}, key{extent()});
    const batch b{extent()};
    const tensor<float, batch, seq, key, dimwise::normalised<key>> inside =
        softmax<key>(dimwise::broadcast<batch>(x, b));
    RC_ASSERT((differ<tensor<float, batch, seq, key, dimwise::normalised<key>>>(
                   inside, dimwise::broadcast<batch>(softmax<key>(x), b), tolerance) == ""));
  }));
}

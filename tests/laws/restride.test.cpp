// tests/laws/restride.test.cpp -- laws of names, orders and grouping, and of joining and taking, over generated
// extents.
//
// Nothing here computes: everything holds exactly. SPDX-License-Identifier: BSL-1.0
#include "support/dims.hpp"
#include "support/numbers.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

namespace {

using namespace dims;
using namespace dimwise_test;
using dimwise::concat;
using dimwise::id;
using dimwise::merge;
using dimwise::merged;
using dimwise::part;
using dimwise::permute;
using dimwise::rename;
using dimwise::slice;
using dimwise::split;
using dimwise::tensor;

using cube = tensor<float, batch, seq, width>;

std::size_t extent() { return *rc::gen::inRange<std::size_t>(0, 7); }
unsigned seed() { return *rc::gen::inRange(0U, 1000000U); }
cube any_cube() { return drawn<cube>(seed(), batch{extent()}, seq{extent()}, width{extent()}); }

}  // namespace

TEST_CASE("law: rename and permute are undone by their inverses") {
  CHECK(rc::check("rename<key, seq>(rename<seq, key>(x)) = x", [] {
    const auto x = any_cube();
    RC_ASSERT((differ(cube(rename<key, seq>(rename<seq, key>(x))), x) == ""));
    RC_ASSERT((differ(cube(dimwise::relabel<source, seq>(dimwise::relabel<seq, source>(x))), x) == ""));
  }));
  CHECK(rc::check("every order of the dimensions leads back", [] {
    const auto x = any_cube();
    RC_ASSERT((differ(dimwise::evaluate(permute<batch, seq, width>(permute<width, seq, batch>(x))), x) == ""));
    RC_ASSERT((differ(dimwise::evaluate(
                          permute<batch, seq, width>(tensor<float, seq, width, batch>(permute<seq, width, batch>(x)))),
                      x) == ""));
    RC_ASSERT((differ(cube(tensor<float, width, batch, seq>(tensor<float, seq, width, batch>(x))), x) == ""));
  }));
}

TEST_CASE("law: permute changes no value by name") {
  CHECK(rc::check("permute(x)(i, j, k) = x(i, j, k)", [] {
    const auto x = any_cube();
    const tensor<float, width, batch, seq> y = permute<width, batch, seq>(x);
    for (std::size_t b = 0; b < dimwise::extent_of<batch>(x); ++b) {
      for (std::size_t s = 0; s < dimwise::extent_of<seq>(x); ++s) {
        for (std::size_t w = 0; w < dimwise::extent_of<width>(x); ++w) {
          RC_ASSERT((y(id<batch>(b), id<seq>(s), id<width>(w)) == x(id<batch>(b), id<seq>(s), id<width>(w))));
        }
      }
    }
    RC_ASSERT((differ(cube(x - y), cube(x - x)) == ""));
    RC_ASSERT((differ<tensor<float, batch>>(dimwise::max<seq, width>(x), dimwise::max<seq, width>(y)) == ""));
  }));
}

TEST_CASE("law: split and merge are inverse, neighbours or not") {
  CHECK(rc::check("split<a, b>(merge<a, b>(x)) = x", [] {
    const auto x = any_cube();
    RC_ASSERT((differ(cube(split<seq, width>(merge<seq, width>(x))), x) == ""));
    RC_ASSERT((differ(cube(split<width, batch>(merge<width, batch>(x))), x) == ""));
    RC_ASSERT(
        (differ(cube(split<width, seq, batch>(tensor<float, merged<width, seq, batch>>(merge<width, seq, batch>(x)))),
                x) == ""));
  }));
  CHECK(rc::check("merge<a, b>(split<a, b>(x)) = x", [] {
    using packed = tensor<float, seq, merged<branches, narrow>, batch>;
    const auto x = drawn<packed>(seed(), seq{extent()}, branches{extent()}, narrow{extent()}, batch{extent()});
    RC_ASSERT((differ(packed(merge<branches, narrow>(split<branches, narrow>(x))), x) == ""));
  }));
}

TEST_CASE("law: concat then slice gives the parts back, and slices joined give the whole") {
  CHECK(rc::check("slice(concat(a, b)) = a, b", [] {
    const batch b{extent()};
    const width w{extent()};
    const auto x = drawn<cube>(seed(), b, seq{extent()}, w);
    const auto y = drawn<cube>(seed(), b, seq{extent()}, w);
    const auto z = drawn<cube>(seed(), b, seq{extent()}, w);
    const auto all = concat<seq>(x, y, z);
    const std::size_t n = dimwise::extent_of<seq>(x);
    const std::size_t m = dimwise::extent_of<seq>(y);
    RC_ASSERT((differ(cube(slice<seq>(all, 0, n)), x) == ""));
    RC_ASSERT((differ(cube(slice<seq>(all, n, m)), y) == ""));
    RC_ASSERT((differ(cube(slice<seq>(all, n + m, dimwise::extent_of<seq>(z))), z) == ""));
    RC_ASSERT((differ(cube(concat<seq>(concat<seq>(x, y), z)), cube(concat<seq>(x, concat<seq>(y, z)))) == ""));
    RC_ASSERT((differ(cube(concat<seq>(slice<seq>(all, 0, n), slice<seq>(all, n, dimwise::extent_of<seq>(all) - n))),
                      cube(all)) == ""));
  }));
}

TEST_CASE("law: what goes into a sum of dimensions comes out of its parts") {
  CHECK(rc::check("part<p>(concat<summed<p, q>>(a, b)) = a", [] {
    const batch b{extent()};
    const width w{extent()};
    const auto x = drawn<cube>(seed(), b, seq{extent()}, w);
    const auto y = drawn<tensor<float, width, batch, source>>(seed(), b, source{extent()}, w);
    const auto all = concat<dimwise::summed<seq, source>>(x, y);
    RC_ASSERT((differ(cube(part<seq>(all)), x) == ""));
    RC_ASSERT((differ(tensor<float, width, batch, source>(part<source>(all)), y) == ""));
  }));
}

TEST_CASE("law: at of a stack is the operand, gather of all ids is the table") {
  CHECK(rc::check("at<d>(stack<d>(a, b), i)", [] {
    const auto x = any_cube();
    const auto y = x * 2;
    const auto both = dimwise::stack<pair>(x, y);
    RC_ASSERT((differ(cube(dimwise::at<pair>(both, 0)), x) == ""));
    RC_ASSERT((differ(cube(dimwise::at<pair>(both, 1)), cube(y)) == ""));
    std::vector<id<seq>> every;
    for (std::size_t s = 0; s < dimwise::extent_of<seq>(x); ++s) { every.emplace_back(s); }
    const tensor<id<seq>, key> ids(every, key{every.size()});
    RC_ASSERT((differ(cube(rename<key, seq>(dimwise::gather<seq>(x, ids))), x) == ""));
  }));
}

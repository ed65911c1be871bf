// tests/tensor/overflow.test.cpp -- sums and products of run-time extents that wrap, and positions beyond the integers.
//
// A node that only repeats its operand has any extents without memory: what is formed of it must not become small.
// SPDX-License-Identifier: BSL-1.0
#include "support/dims.hpp"
#include "support/numbers.hpp"
#include <dimwise/nn/layers/embedding.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>

namespace {

using namespace dims;
using namespace dimwise_test;
using dimwise::broadcast;
using dimwise::concat;
using dimwise::extent_error;
using dimwise::index_error;
using dimwise::merged;
using dimwise::origin_error;
using dimwise::starting_at;
using dimwise::summed;
using dimwise::tensor;
using dimwise::tensor_view;

struct left : dimwise::position_dim<> {};
struct right : dimwise::position_dim<> {};
struct wide : dimwise::feature_dim<> {};
struct joined : dimwise::position_dim<> {};
struct turns : dimwise::feature_dim<> {};

constexpr std::size_t half = std::size_t{1} << 63U;
constexpr std::size_t root = std::size_t{1} << 32U;
constexpr std::ptrdiff_t farthest = std::numeric_limits<std::ptrdiff_t>::max() / 8;

const tensor<float, d_k> row({1, 2, 3, 4});
template <class D>
auto repeated(std::size_t n) {
  return broadcast<D>(row, D{n});
}

}  // namespace

TEST_CASE("overflow: a concatenation whose extents add up to too much is refused when it is formed") {
  CHECK(thrown<extent_error>([] { (void)concat<seq>(repeated<seq>(half), repeated<seq>(half)); }) ==
        "concat: the extent of dimension seq overflows, it is the sum of 9223372036854775808 + 9223372036854775808 "
        "(R15)");
  CHECK(thrown<extent_error>([] {
    (void)concat<seq>(repeated<seq>(half), repeated<seq>(half - 1), repeated<seq>(2));
  }) == "concat: the extent of dimension seq overflows, it is the sum of 9223372036854775808 + 9223372036854775807 + 2 "
        "(R15)");
  CHECK(thrown<extent_error>([] { (void)concat<summed<left, right>>(repeated<left>(half), repeated<right>(half)); }) ==
        "concat: the extent of dimension summed<left, right> overflows, it is the sum of 9223372036854775808 + "
        "9223372036854775808 (R15)");
  CHECK(dimwise::extent_of<seq>(concat<seq>(repeated<seq>(half), repeated<seq>(half - 1))) == 2 * (half - 1) + 1);
  CHECK(dimwise::extent_of<seq>(concat<seq>(repeated<seq>(2), repeated<seq>(0), repeated<seq>(3))) == 5);
}

TEST_CASE("overflow: tensors, views and expressions of sums and products that are too large are refused") {
  CHECK(thrown<extent_error>([] { tensor<float, summed<left, right>>(left{half}, right{half}); }) ==
        "tensor: the extent of dimension summed<left, right> overflows, it is the sum of 9223372036854775808 + "
        "9223372036854775808 (R15)");
  CHECK(thrown<extent_error>([] {
    (void)dimwise::merge<left, right>(broadcast<left>(repeated<right>(root), left{root}));
  }) == "merge: the extent of dimension merged<left, right> overflows, it is the product of 4294967296 x 4294967296 "
        "(R15)");
  CHECK(thrown<extent_error>([] {
    (void)tensor_view<const float, summed<left, right>>(row.data(), left{half}, right{half});
  }) == "tensor_view: the extent of dimension summed<left, right> overflows, it is the sum of 9223372036854775808 + "
        "9223372036854775808 (R15)");
  CHECK(thrown<extent_error>([] { tensor<bool, merged<left, right>>(left{root}, right{root}); }) ==
        "tensor: a tensor of left 4294967296 x right 4294967296, 1 byte each, has more elements than memory can hold "
        "(R15)");
}

TEST_CASE("overflow: an extent of 0 makes a product 0, in every place") {
  CHECK(tensor<float, batch, left, right>(batch{0}, left{half}, right{half}).size() == 0);
  CHECK(tensor<float, left, right, batch>(batch{0}, left{half}, right{half}).size() == 0);
  const auto merged_once =
      dimwise::merge<batch, left, right>(tensor<float, batch, left, right>(batch{0}, left{half}, right{half}));
  CHECK(dimwise::extent_of<merged<batch, left, right>>(merged_once) == 0);
  const auto scalar = dimwise::relabel<merged<batch, left, right>, joined>(merged_once);
  CHECK(dimwise::evaluate(scalar).size() == 0);
  CHECK(thrown<extent_error>([] {
    (void)dimwise::merge<left, right>(tensor<float, batch, left, right>(batch{0}, left{half}, right{half}));
  }) == "merge: the extent of dimension merged<left, right> overflows, it is the product of 9223372036854775808 x "
        "9223372036854775808 (R15)");
  // The sum over nothing has as many elements as the rest.
  CHECK(thrown<extent_error>([] {
    (void)dimwise::evaluate(dimwise::sum<batch>(tensor<float, batch, left, right>(batch{0}, left{half}, right{half})));
  }) == "tensor: a tensor of left 9223372036854775808 x right 9223372036854775808, 4 bytes each, has more elements "
        "than memory can hold (R15)");
  const auto nothing =
      tensor<float, batch, left, right>(batch{0}, left{std::size_t{1} << 40U}, right{std::size_t{1} << 40U});
  CHECK(dimwise::evaluate(nothing * 2 + nothing).size() == 0);
  CHECK(dimwise::evaluate(dimwise::permute<right, batch, left>(nothing)).size() == 0);
}

TEST_CASE("overflow: a copy that an operation needs by the way is not too small") {
  // Repeated rows do not follow each other in memory: called one dimension they are copied first.
  const auto many = broadcast<left>(tensor<float, right>(right{1024}), left{std::size_t{1} << 24U});
  const auto one = dimwise::relabel<merged<left, right>, joined>(
      dimwise::merge<left, right>(broadcast<batch>(many, batch{std::size_t{1} << 40U})));
  CHECK(thrown<extent_error>([&] {
    (void)dimwise::evaluate(dimwise::at<joined>(dimwise::at<batch>(one, 0), 0));
  }).find("has more elements than memory can hold (R15)") != std::string::npos);
}

TEST_CASE("overflow: a run-time quotient is not compared with a product that wraps") {
  CHECK(thrown<extent_error>([] {
    (void)broadcast<width>(broadcast<branches>(tensor<float, narrow>(narrow{1}), branches{4}), width{5});
  }) == "nothing was thrown");
  CHECK(thrown<extent_error>([] {
    (void)tensor_view<const bool, width, branches, narrow>(nullptr, dimwise::strides{0, 0, 0}, width{0}, branches{2},
                                                           narrow{half});
  }) == "dimension narrow has extent 9223372036854775808, but width is 0 and branches is 2 (R4)");
}

TEST_CASE("overflow: given angles for more features than can be counted are refused") {
  const tensor<float, seq, d_k> x(seq{0});
  const tensor<float, seq, turns> angles(seq{0}, turns{half});
  CHECK(thrown<extent_error>([&] { (void)dimwise::rotary<seq, d_k>(x, angles, angles); }) ==
        "rotary: the extent of dimension d_k overflows, it is the product of 2 x 9223372036854775808 (R15)");
}

TEST_CASE("overflow: loops over elements that are seen again and again do not end early") {
  dimwise::kernels::loop_nest<1> nest;
  nest.add(root, {0});
  nest.add(root, {0});
  CHECK(nest.rank == 2);
  CHECK(nest.extent[0] == root);
  CHECK(nest.extent[1] == root);
}

TEST_CASE("positions: slices, views and concatenations near the last position say so") {
  const auto near = tensor<float, seq, d_k>(starting_at(seq{5}, farthest));
  CHECK(dimwise::slice<seq>(near, 0, 2).extents().origin<seq>("test") == farthest);
  CHECK(thrown<origin_error>([&] { (void)dimwise::slice<seq>(near, 1, 2); }) ==
        "slice: the position 1 after position 1152921504606846975 of dimension seq is beyond 2^60 (R7)");
  CHECK(thrown<origin_error>([&] { (void)dimwise::slice<seq>(repeated<seq>(half), half - 1); }) ==
        "slice: the position 9223372036854775807 after position 0 of dimension seq is beyond 2^60 (R7)");
  const tensor_view<const float, seq, d_k> view(near);
  CHECK(thrown<origin_error>([&] { (void)view.within(3, seq{1}); }) ==
        "within: the position 3 after position 1152921504606846975 of dimension seq is beyond 2^60 (R7)");
  CHECK(view.within(3, starting_at(seq{1}, 7)).extents().origin<seq>("test") == 7);

  const auto early = tensor<float, seq, d_k>(starting_at(seq{5}, -farthest));
  CHECK(dimwise::slice<seq>(early, 4).extents().origin<seq>("test") == 4 - farthest);
  // Parts whose positions could not be counted on agree with none; nothing wraps.
  const auto long_ago = broadcast<seq>(row, starting_at(seq{half - 1}, farthest));
  const auto both = concat<seq>(long_ago, tensor<float, seq, d_k>(starting_at(seq{1}, -farthest)));
  CHECK(thrown<origin_error>([&] { (void)both.extents().origin<seq>("concat"); }).find("different origins") !=
        std::string::npos);
  CHECK(concat<seq>(near, near).extents().has_origin<seq>());
  CHECK(concat<seq>(early, tensor<float, seq, d_k>(starting_at(seq{2}, 5 - farthest))).extents().origin<seq>("test") ==
        -farthest);
}

TEST_CASE("positions: a dimension object starts no further away, however it is given") {
  seq n{1};
  n.start_at(farthest);
  CHECK(n.origin() == farthest);
  for (const std::ptrdiff_t beyond : {farthest + 1, -farthest - 1, std::numeric_limits<std::ptrdiff_t>::max(),
                                      std::numeric_limits<std::ptrdiff_t>::min()}) {
    CHECK(thrown<origin_error>([&] { n.start_at(beyond); }).ends_with(" is beyond 2^60 (R7)"));
    CHECK(
        thrown<origin_error>([&] { (void)starting_at(n, beyond); }).ends_with(" of dimension seq is beyond 2^60 (R7)"));
    CHECK(n.origin() == farthest);
  }
}

TEST_CASE("positions: a roll by any number, and of any extent, does not wrap") {
  constexpr auto least = std::numeric_limits<std::int64_t>::min();
  constexpr auto most = static_cast<std::size_t>(-1);
  CHECK(dimwise::detail::cyclic(least, half) == 0);
  CHECK(dimwise::detail::cyclic(least, most) == half - 1);
  CHECK(dimwise::detail::cyclic(-1, most) == most - 1);
  CHECK(dimwise::detail::cyclic(-1, half + 1) == half);
  CHECK(dimwise::detail::cyclic(least, 3) == 1);
  CHECK(dimwise::detail::cyclic(most, half) == half - 1);
  CHECK(dimwise::detail::cyclic(-7, 0) == 0);
}

TEST_CASE("positions: learned ones far beyond their table are refused") {
  dimwise::nn::learned_positions<seq, d_k> learned;
  learned.table = tensor<float, seq, d_k>(seq{4});
  const auto refused = [&](std::size_t n, std::ptrdiff_t first) {
    return thrown<index_error>([&] { (void)learned(broadcast<seq>(row, starting_at(seq{n}, first))); });
  };
  CHECK(refused(half - 1, farthest).starts_with("learned_positions: positions 1152921504606846975 "));
  CHECK(refused(static_cast<std::size_t>(-1), 1).starts_with("learned_positions: positions 1 "));
  CHECK(refused(2, 3).starts_with("learned_positions: positions 3 … 4 of dimension seq are asked of a table of 4"));
  CHECK(learned(broadcast<seq>(row, starting_at(seq{2}, 2))).size() == 8);
}

TEST_CASE("positions: a slice beyond the end names numbers that do not wrap") {
  const tensor<float, seq, d_k> x(seq{5});
  CHECK(thrown<index_error>([&] { (void)dimwise::slice<seq>(x, 2, static_cast<std::size_t>(-1)); }) ==
        "slice: elements 2 to 18446744073709551615 are outside dimension seq of extent 5 (R18)");
}

TEST_CASE("overflow: a product with nothing in it and much beside it, and what follows in its pass") {
  const tensor<float, batch, seq, d_k> x(batch{0}, seq{std::size_t{1} << 40U});
  const tensor<float, d_k, left, right> w(left{std::size_t{1} << 5U}, right{std::size_t{1} << 3U});
  const tensor<float, left, right> bias(left{std::size_t{1} << 5U}, right{std::size_t{1} << 3U});
  CHECK(dimwise::evaluate(dimwise::relu(dimwise::contract<d_k>(x, w) + bias)).size() == 0);
  const tensor<float, batch, left, right, d_k> much(batch{0}, left{std::size_t{1} << 40U},
                                                    right{std::size_t{1} << 40U});
  CHECK(dimwise::evaluate(dimwise::contract<d_k>(much, row) * 2).size() == 0);
  CHECK(dimwise::evaluate(dimwise::softmax<left>(much)).size() == 0);
  CHECK(dimwise::evaluate(dimwise::layer_norm<d_k>(much)).size() == 0);
}

// The address sanitizer ends a program that asks for so much.
#if defined(__SANITIZE_ADDRESS__)
#define DIMWISE_TEST_ASAN true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define DIMWISE_TEST_ASAN true
#endif
#endif
#ifndef DIMWISE_TEST_ASAN
#define DIMWISE_TEST_ASAN false
#endif

TEST_CASE("overflow: memory that no machine has is refused with its size" * doctest::skip(DIMWISE_TEST_ASAN)) {
  const auto said = [](const auto& f) -> std::string {
    try {
      f();
    } catch (const dimwise::allocation_error& e) { return e.what(); }
    return "";
  };
  const std::size_t most = std::size_t{1} << 60U;
  CHECK(said([&] { (void)tensor<float, wide>(wide{most}); }) ==
        "out of memory: 4611686018427387904 bytes for the elements of a tensor cannot be allocated");
  CHECK(said([&] { const tensor y = broadcast<seq>(row, seq{most >> 2U}); }) ==
        "out of memory: 4611686018427387904 bytes for the elements of a tensor cannot be allocated");
  CHECK(said([&] { const auto y = dimwise::detail::scratch(most); }) ==
        "out of memory: 1152921504606846976 bytes for a buffer of an evaluation cannot be allocated");
}

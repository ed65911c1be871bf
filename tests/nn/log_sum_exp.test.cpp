// tests/nn/log_sum_exp.test.cpp -- attention over parts of the keys, merged, is attention over all of them.
//
// SPDX-License-Identifier: BSL-1.0
#include "support/numbers.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace {

using namespace dimwise;
using namespace dimwise_test;

struct batch : batch_dim<> {};
struct heads : heads_dim<> {};
struct seq : position_dim<> {};
struct key : prime<seq> {};
struct d_k : feature_dim<> {};
struct d_v : feature_dim<> {};

const auto q = drawn<tensor<float, batch, seq, heads, d_k>>(1, batch{2}, starting_at(seq{5}, 3), heads{3}, d_k{6});
const auto k = drawn<tensor<float, batch, heads, key, d_k>>(2, batch{2}, heads{3}, key{9}, d_k{6});
const auto v = drawn<tensor<float, batch, key, heads, d_v>>(3, batch{2}, key{9}, heads{3}, d_v{7});

double score(std::size_t b, std::size_t h, std::size_t i, std::size_t j) {
  return sum_of(6, [&](auto f) { return double{el(q, b, i, h, f)} * el(k, b, h, j, f); }) / std::sqrt(6.0);
}
// Queries at 3 … 7 see the keys up to their own position.
double log_sum(std::size_t b, std::size_t h, std::size_t i, std::size_t from, std::size_t to) {
  double total = 0;
  for (std::size_t j = from; j < to && j <= i + 3; ++j) { total += std::exp(score(b, h, i, j)); }
  return std::log(total);
}
double output(std::size_t b, std::size_t h, std::size_t i, std::size_t d, std::size_t from, std::size_t to) {
  double y = 0;
  for (std::size_t j = from; j < to && j <= i + 3; ++j) {
    y += std::exp(score(b, h, i, j) - log_sum(b, h, i, from, to)) * el(v, b, j, h, d);
  }
  return y;
}

auto part_of_keys(std::size_t from, std::size_t to) {
  const auto some = [&](const auto& x) { return slice<key>(x, from, to - from); };
  return partial_attention<key>(masked(scores<d_k>(q, some(k)), causal<seq, key>{}), some(v));
}
template <class Part>
void check(const Part& part, std::size_t from, std::size_t to) {
  CAPTURE(from);
  CAPTURE(to);
  CHECK(differences(part.output, {2, 3, 5, 7}, float32(30),
                    [&](auto b, auto h, auto i, auto d) { return output(b, h, i, d, from, to); }) == "");
  CHECK(differences(part.log_sum_exp, {2, 3, 5}, float32(30),
                    [&](auto b, auto h, auto i) { return log_sum(b, h, i, from, to); }) == "");
}

}  // namespace

TEST_CASE("partial_attention: the output and the log-sum-exp of its keys, one pass, and by the scalar path") {
  for (const std::size_t from : counts{0, 2, 6, 8, 9}) {
    for (const std::size_t to : counts{0, 1, 5, 9}) {
      if (to < from) { continue; }
      reset_plans();
      const auto part = part_of_keys(from, to);
      CHECK(plans_run()[plan_kind::attention] + plans_run()[plan_kind::decode] == 1);
      check(part, from, to);
      const plain_loops only;
      check(part_of_keys(from, to), from, to);
    }
  }
}

TEST_CASE("merge: parts of the keys, however they were cut, give the whole; parts that no query sees add nothing") {
  for (const std::size_t cut : counts{0, 1, 3, 7, 8, 9}) {
    check(merge(part_of_keys(0, cut), part_of_keys(cut, 9)), 0, 9);
    check(merge(part_of_keys(cut, 9), part_of_keys(0, cut)), 0, 9);
  }
  check(merge(merge(part_of_keys(0, 2), part_of_keys(2, 4)), merge(part_of_keys(4, 8), part_of_keys(8, 9))), 0, 9);
  // Both empty: 0, and the log of 0.
  const auto nothing = merge(part_of_keys(9, 9), part_of_keys(9, 9));
  CHECK(differences(nothing.output, {2, 3, 5, 7}, 0, [](auto...) { return 0.0; }) == "");
  CHECK(differences(nothing.log_sum_exp, {2, 3, 5}, 0, [](auto...) { return -static_cast<double>(infinite); }) == "");
}

TEST_CASE("merge: scores far apart neither overflow nor vanish") {
  const auto far = [](float by, float value) {
    const tensor<float, seq, d_k> one_q(std::vector<float>{1}, seq{1}, d_k{1});
    const tensor<float, key, d_k> one_k(std::vector<float>{by}, key{1}, d_k{1});
    const tensor<float, key, d_v> one_v(std::vector<float>{value}, key{1}, d_v{1});
    return partial_attention<key>(scores<d_k>(one_q, one_k), one_v);
  };
  for (const float by : {-300.0F, -100.0F, 100.0F, 300.0F}) {
    const auto both = merge(far(by, 2), far(by + 1, 3));
    const double share = 1 / (1 + std::exp(1.0));
    CHECK(differences(both.output, {1, 1}, float32(8), [&](auto, auto) { return share * 2 + (1 - share) * 3; }) == "");
    CHECK(differences(both.log_sum_exp, {1}, float32(8), [&](auto) { return by + std::log(1 + std::exp(1.0)); }) == "");
  }
  const auto one_wins = merge(far(-300, 2), far(300, 3));
  CHECK(one_wins.output.values()[0] == 3);
  CHECK(one_wins.log_sum_exp.values()[0] == 300);
}

TEST_CASE("partial_attention of double: one pass of the kernel, which is the formula") {
  const tensor<double, seq, d_k> queries = at<batch>(at<heads>(q, 1), 1);
  const tensor<double, key, d_k> keys = at<batch>(at<heads>(k, 1), 1);
  const tensor<double, key, d_v> values = at<batch>(at<heads>(v, 1), 1);
  const auto s = masked(scores<d_k>(queries, keys), causal<seq, key>{});
  reset_plans();
  const auto part = partial_attention<key>(s, values);
  CHECK((!kernels::available || plans_run()[plan_kind::attention] + plans_run()[plan_kind::decode] == 1));
  const plain_loops only;
  const auto expected = partial_attention<key>(s, values);
  CHECK(differ(part.output, expected.output, float64) == "");
  CHECK(differ(part.log_sum_exp, expected.log_sum_exp, float64) == "");
}

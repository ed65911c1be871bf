// tests/eval/special_values/attention.test.cpp -- attention with NaN, infinities, zeros and subnormals at every kind of
// place: kernels, the scalar path and float64 agree, whatever changes the scores.
//
// SPDX-License-Identifier: BSL-1.0
#include "special_values.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace {

using namespace special;

struct kv_heads : heads_dim<> {};
struct group : heads_dim<> {};

struct sizes {
  std::size_t queries;
  std::size_t keys;
  std::size_t batches = 1;
  std::size_t heads = 2;
  std::size_t groups = 1;
  std::size_t features = 5;
  std::size_t values = 7;
};

// What attention is computed from. Queries are positive, so that one infinite feature of a key decides the score.
struct operands {
  tensor<float, batch, kv_heads, group, seq, d_k> q;
  tensor<float, batch, kv_heads, key, d_k> k;
  tensor<float, batch, kv_heads, key, d_v> v;
  tensor<float, kv_heads, seq, key> pairs;
  tensor<float, batch, key> of_keys;
  tensor<bool, batch, seq, key> visible;
  tensor<int, batch> lengths;

  explicit operands(const sizes& n)
      : q(drawn<decltype(q)>(1, batch{n.batches}, kv_heads{n.heads}, group{n.groups}, seq{n.queries}, d_k{n.features})),
        k(drawn<decltype(k)>(2, batch{n.batches}, kv_heads{n.heads}, key{n.keys}, d_k{n.features})),
        v(drawn<decltype(v)>(3, batch{n.batches}, kv_heads{n.heads}, key{n.keys}, d_v{n.values})),
        pairs(drawn<decltype(pairs)>(4, kv_heads{n.heads}, seq{n.queries}, key{n.keys})),
        of_keys(drawn<decltype(of_keys)>(5, batch{n.batches}, key{n.keys})),
        visible(drawn<decltype(visible)>(6, batch{n.batches}, seq{n.queries}, key{n.keys})),
        lengths(batch{n.batches}) {
    for (float& x : elements(q)) { x = 0.25F + std::abs(x); }
    std::vector<int> all;
    for (std::size_t b = 0; b < n.batches; ++b) { all.push_back(static_cast<int>(n.keys - n.keys / (b + 3))); }
    lengths.assign(all);
  }
};

plan_kind kind_of(const sizes& n) {
  return n.queries <= 4 && n.queries * n.groups <= 32 ? plan_kind::decode : plan_kind::attention;
}

// Every special value at some places of every operand, alone and where a key's score is −∞ besides.
template <class Formula>
void sweep(const sizes& n, const Formula& formula) {
  const operands base(n);
  const auto check = [&](const operands& x, const std::string& where, std::size_t at, float number) {
    const std::string wrong = disagreement(formula(x), kind_of(n));
    CAPTURE(n.queries);
    CAPTURE(n.keys);
    CAPTURE(where);
    CAPTURE(at);
    CAPTURE(number);
    CHECK(wrong == "");
  };
  check(base, "nowhere", 0, 0);
  for (const float number : special::numbers(2e38F)) {
    operands x = base;
    const auto put = [&](auto& tensor, const auto& same, const std::string& where) {
      special::replace_each(tensor, same, number, [&](std::size_t at) { check(x, where, at, number); });
    };
    put(x.q, base.q, "q");
    put(x.k, base.k, "k");
    put(x.v, base.v, "v");
    put(x.pairs, base.pairs, "bias of pairs");
    put(x.of_keys, base.of_keys, "bias of keys");
    // A score of −∞, and the number as its value; then as the score itself beside a bias of −∞.
    for (const std::size_t j : special::places(n.keys)) {
      elements(x.k)[j * n.features] = -infinite;
      elements(x.v)[j * n.values + 1] = number;
      check(x, "v where the product is -inf", j, number);
      x.k = base.k;
      elements(x.of_keys)[j] = -infinite;
      for (std::size_t i = 0; i < n.queries; ++i) { elements(x.pairs)[i * n.keys + j] = -infinite; }
      check(x, "v where the bias is -inf", j, number);
      x.v = base.v;
      elements(x.k)[j * n.features] = number;
      check(x, "k where the bias is -inf", j, number);
      x = base;
    }
    // Every score −∞.
    for (std::size_t j = 0; j < n.keys; ++j) { elements(x.k)[j * n.features] = -infinite; }
    elements(x.v)[0] = number;
    check(x, "v where all products are -inf", 0, number);
  }
}

template <class Formula>
void sweep_sizes(const Formula& formula) {
  sweep({.queries = 6, .keys = 5, .groups = 2}, formula);
  sweep({.queries = 1, .keys = 9, .values = 17}, formula);
  sweep({.queries = 35, .keys = 101, .heads = 1, .features = 3, .values = 4}, formula);
  sweep({.queries = 3, .keys = 67, .heads = 1, .groups = 2, .features = 17, .values = 5}, formula);
  for (const std::size_t q : counts{0, 1, 6}) {
    for (const std::size_t k : counts{0, 5}) {
      for (const std::size_t f : counts{0, 3}) {
        for (const std::size_t v : counts{0, 2}) {
          for (const std::size_t h : counts{0, 2}) {
            const sizes n{.queries = q, .keys = k, .heads = h, .features = f, .values = v};
            const std::string wrong = disagreement(formula(operands(n)), kind_of(n));
            CAPTURE(q);
            CAPTURE(k);
            CAPTURE(f);
            CAPTURE(v);
            CAPTURE(h);
            CHECK(wrong == "");
          }
        }
      }
    }
  }
}

auto s_of(const operands& x) { return scores<d_k>(x.q, x.k); }
template <class S>
auto attended(const S& s, const operands& x) {
  return contract<key>(softmax<key>(s), x.v);
}
causal<seq, key> up_to(const operands& x) {
  return causal<seq, key>(starting_at(seq{extent_of<seq>(x.q)}, 2), key{extent_of<key>(x.k)});
}
window<seq, key> near(const operands& x) {
  return window<seq, key>(3, 1, starting_at(seq{extent_of<seq>(x.q)}, 1), key{extent_of<key>(x.k)});
}

}  // namespace

TEST_CASE("special values: attention that sees everything") {
  sweep_sizes([](const operands& x) { return attended(s_of(x), x); });
}
TEST_CASE("special values: causal attention") {
  sweep_sizes([](const operands& x) { return attended(masked(s_of(x), up_to(x)), x); });
}
TEST_CASE("special values: attention within a window") {
  sweep_sizes([](const operands& x) { return attended(masked(s_of(x), near(x)), x); });
}
TEST_CASE("special values: attention to keys of some length") {
  sweep_sizes([](const operands& x) { return attended(masked(s_of(x), padding<key>(x.lengths)), x); });
}
TEST_CASE("special values: attention under a given mask") {
  sweep_sizes([](const operands& x) { return attended(masked(s_of(x), allow(x.visible)), x); });
}
TEST_CASE("special values: attention with a bias of pairs") {
  sweep_sizes([](const operands& x) { return attended(biased(s_of(x), x.pairs), x); });
}
TEST_CASE("special values: attention with a bias of keys") {
  sweep_sizes([](const operands& x) { return attended(biased(s_of(x), x.of_keys), x); });
}
TEST_CASE("special values: attention with a bias under a causal and a given mask") {
  sweep_sizes([](const operands& x) {
    return attended(masked(masked(biased(s_of(x), x.pairs), up_to(x)), allow(x.visible)), x);
  });
}
TEST_CASE("special values: attention with a bias on what is masked") {
  sweep_sizes(
      [](const operands& x) { return attended(biased(masked(s_of(x), allow(x.visible) & near(x)), x.pairs), x); });
}
TEST_CASE("special values: attention with capped scores") {
  sweep_sizes([](const operands& x) { return attended(masked(tanh(s_of(x) * 0.5F) * 2.0F, up_to(x)), x); });
}
TEST_CASE("special values: attention with a function of scores that hides some") {
  sweep_sizes([](const operands& x) {
    return attended(
        map([](auto s) { return s < decltype(s)(-0.25) ? -std::numeric_limits<decltype(s)>::infinity() : s; }, s_of(x)),
        x);
  });
}
TEST_CASE("special values: attention with ALiBi") {
  sweep_sizes([](const operands& x) {
    return attended(
        biased(s_of(x), alibi<seq, key, kv_heads>(starting_at(seq{extent_of<seq>(x.q)}, 1), key{extent_of<key>(x.k)})),
        x);
  });
}

TEST_CASE("special values: weights of scores that were stored, contracted with values") {
  using stored = tensor<float, seq, key, score<d_k>>;
  const auto s = drawn<stored>(1, seq{11}, key{9});
  const auto v = drawn<tensor<float, key, d_v>>(2, key{9}, d_v{5});
  const auto residual = drawn<tensor<float, seq, d_v>>(3, seq{11}, d_v{5});
  for (const float of_score : special::numbers(2e38F)) {
    for (const float of_value : special::numbers(2e38F)) {
      for (const std::size_t at : special::places(s.size())) {
        auto odd_s = s;
        auto odd_v = v;
        elements(odd_s)[at] = of_score;
        elements(odd_v)[at % 9 * 5 + 2] = of_value;
        CAPTURE(of_score);
        CAPTURE(of_value);
        CAPTURE(at);
        const auto scalar = contract<key>(softmax<key>(odd_s), odd_v);
        CHECK(disagreement(scalar, plan_kind::product) == "");
        CHECK(disagreement(scalar + residual, plan_kind::product) == "");
        CHECK(disagreement(contract<key>(softmax<key>(masked(odd_s, causal<seq, key>(seq{11}, key{9}))), odd_v),
                           plan_kind::product) == "");
      }
    }
  }
}

TEST_CASE("special values: windows as wide as the integers, from positions as far as they go") {
  constexpr std::ptrdiff_t largest = std::numeric_limits<std::ptrdiff_t>::max();
  constexpr std::ptrdiff_t farthest = (std::ptrdiff_t{1} << 60) - 1;
  for (const std::size_t queries : counts{1, 7}) {
    const operands x({.queries = queries, .keys = 9});
    const auto agree = [&](const auto& mask, const auto& visible) {
      const auto e = attended(masked(s_of(x), mask), x);
      CHECK(disagreement(e, kind_of({.queries = queries, .keys = 9})) == "");
      CHECK(special::unlike(evaluate(e), reference(attended(masked(s_of(x), allow(visible)), x))) == "");
    };
    for (const std::ptrdiff_t q0 : {-farthest, std::ptrdiff_t{-3}, std::ptrdiff_t{0}, std::ptrdiff_t{5}, farthest}) {
      for (const std::ptrdiff_t k0 : {-farthest, std::ptrdiff_t{0}, farthest}) {
        const seq from = starting_at(seq{queries}, q0);
        const key of = starting_at(key{9}, k0);
        for (const std::ptrdiff_t left :
             {std::ptrdiff_t{-1}, std::ptrdiff_t{0}, std::ptrdiff_t{3}, farthest, 2 * farthest, largest - 1, largest}) {
          for (const std::ptrdiff_t right : {std::ptrdiff_t{-1}, std::ptrdiff_t{2}, 2 * farthest + 1, largest}) {
            CAPTURE(q0);
            CAPTURE(k0);
            CAPTURE(left);
            CAPTURE(right);
            tensor<bool, seq, key> visible(from, of);
            for (std::size_t i = 0; i < queries; ++i) {
              for (std::size_t j = 0; j < 9; ++j) {
                const std::ptrdiff_t d = (k0 + static_cast<std::ptrdiff_t>(j)) - (q0 + static_cast<std::ptrdiff_t>(i));
                visible.data()[i * 9 + j] = (left < 0 || -d <= left) && (right < 0 || d <= right);
              }
            }
            agree(window<seq, key>(left, right, from, of), visible);
            const causal<seq, key> of_all(starting_at(seq{queries}, farthest), key{9});
            agree(window<seq, key>(left, right, from, of) & window<seq, key>(largest, largest, from, of) & of_all,
                  visible);
          }
        }
      }
    }
  }
}

TEST_CASE("special values: buckets of distances as far as the integers, and of few buckets") {
  constexpr std::ptrdiff_t largest = std::numeric_limits<std::ptrdiff_t>::max();
  constexpr std::ptrdiff_t smallest = std::numeric_limits<std::ptrdiff_t>::min();
  using distance = std::ptrdiff_t;
  for (const distance d :
       {smallest, smallest + 1, distance{-200}, distance{-1}, distance{0}, distance{1}, distance{200}, largest}) {
    for (const std::size_t buckets : counts{1, 2, 3, 4, 32}) {
      for (const std::ptrdiff_t farthest :
           {std::ptrdiff_t{0}, std::ptrdiff_t{1}, std::ptrdiff_t{8}, std::ptrdiff_t{128}}) {
        for (const bool both : {false, true}) {
          CAPTURE(d);
          CAPTURE(buckets);
          CAPTURE(farthest);
          CHECK(t5_buckets{.bidirectional = both, .max_distance = farthest}(d, buckets) < buckets);
        }
      }
      CHECK(clipped_distance{}(d, buckets) < buckets);
    }
  }
}

TEST_CASE("special values: scales and caps of attention") {
  const sizes n{.queries = 6, .keys = 9};
  const operands base(n);
  std::vector<float> scales = special::numbers(1e37F);
  for (const float c : {0.0F, 1.0F, -2.0F, 1e-30F, 1e30F}) { scales.push_back(c); }
  for (const float c : scales) {
    for (const float number : {0.5F, special::not_a_number, infinite, -infinite}) {
      operands x = base;
      elements(x.k)[n.features] = number;
      CAPTURE(c);
      CAPTURE(number);
      // Kernels take scales that are numbers, and of what is masked positive ones.
      const auto agree = [&](const auto& e) {
        reset_plans();
        (void)evaluate(e);
        const bool by_kernel = plans_run()[plan_kind::attention] > 0;
        CHECK((by_kernel || !std::isfinite(c) || c <= 1e-36F || c > 1e36F || !kernels::available));
        const auto others = plans_run()[plan_kind::product] > 0 ? plan_kind::product : plan_kind::plain;
        CHECK(disagreement(e, by_kernel ? plan_kind::attention : others) == "");
      };
      agree(attended(scaled(contract<d_k>(x.q, x.k), c), x));
      agree(attended(masked(scaled(contract<d_k>(x.q, x.k), c), up_to(x)), x));
      agree(attended(masked(s_of(x), up_to(x)) * c, x));
      if (!std::isfinite(c) || std::abs(c) > 1e-36F) {
        agree(attended(s_of(x) / c, x));
      }  // else the scores are beyond the largest number
      agree(attended(tanh(s_of(x) * 0.5F) * c, x));
      const auto s = masked(scaled(contract<d_k>(x.q, x.k), c), up_to(x));
      const auto part = partial_attention<key>(s, x.v);
      CHECK(special::unlike(part.output, reference(attended(s, x))) == "");
    }
  }
}

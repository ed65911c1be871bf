// tests/eval/special_values/partial_attention.test.cpp -- attention with special values in parts, in caches, beside
// sinks, by documents, and of static extents: what attention as a whole gives.
//
// SPDX-License-Identifier: BSL-1.0
#include "special_values.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace {

using namespace special;

struct heads : heads_dim<> {};

using queries = tensor<float, batch, seq, heads, d_k>;
using keys = tensor<float, batch, key, heads, d_k>;
using values = tensor<float, batch, key, heads, d_v>;

constexpr std::size_t n_keys = 21;
constexpr std::size_t of_position = 2 * 5;  // features of a position: two heads of five

struct operands {
  queries q;
  keys k = drawn<keys>(2, batch{1}, key{n_keys}, heads{2}, d_k{5});
  values v = drawn<values>(3, batch{1}, key{n_keys}, heads{2}, d_v{5});
  explicit operands(std::size_t n)
      : q(drawn<queries>(1, batch{1}, starting_at(seq{n}, static_cast<std::ptrdiff_t>(n_keys - n)), heads{2}, d_k{5})) {
    for (float& x : elements(q)) { x = 0.25F + std::abs(x); }
  }
};

// Calls check(operands) for special values in queries, keys and values, also where all that a query sees has the score
// −∞.
template <class Check>
void each_special(std::size_t n, const Check& check) {
  const operands base(n);
  check(base);
  for (const float number : special::numbers(2e38F)) {
    CAPTURE(number);
    operands x = base;
    const auto put = [&](auto& tensor, const auto& same, const std::string& where) {
      special::replace_each(tensor, same, number, [&](std::size_t at) {
        CAPTURE(where);
        CAPTURE(at);
        check(x);
      });
    };
    put(x.q, base.q, "q");
    put(x.k, base.k, "k");
    put(x.v, base.v, "v");
    for (const std::size_t hidden : counts{1, 9, n_keys}) {
      CAPTURE(hidden);
      for (std::size_t j = 0; j < hidden; ++j) { elements(x.k)[j * of_position] = -infinite; }
      elements(x.v)[(hidden - 1) * of_position + 2] = number;
      check(x);
      x = base;
    }
  }
}

// The first keys or the others, with their positions.
template <class X>
auto cut(const X& x, std::size_t from, std::size_t to) {
  return slice<key>(x, from, to - from);
}

// A formula that is computed at once: by kernels and by the scalar path like `exact`.
template <class F, class Exact>
std::string differs(const F& f, const Exact& exact) {
  std::string wrong = unlike(f(), exact);
  if (!wrong.empty()) { return "kernels: " + wrong; }
  const plain_loops only;
  wrong = unlike(f(), exact);
  return wrong.empty() ? wrong : "scalar path: " + wrong;
}

// log Σ exp as a part has it: NaN where a score of +∞ makes the output NaN.
template <class S>
auto log_sums(const S& s) {
  auto sums = reference(logsumexp<key>(s));
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (sums.values()[i] == static_cast<double>(infinite)) {
      sums.data()[i] = std::numeric_limits<double>::quiet_NaN();
    }
  }
  return sums;
}

}  // namespace

TEST_CASE("special values: attention in parts, merged") {
  for (const std::size_t n : counts{2, 6}) {
    each_special(n, [&](const operands& x) {
      const auto seen = [&](const auto& k) { return masked(scores<d_k>(x.q, k), causal<seq, key>{}); };
      const auto whole = seen(cut(x.k, 0, n_keys));
      const auto exact = reference(contract<key>(softmax<key>(whole), x.v));
      const auto sums = log_sums(whole);
      for (const std::size_t at : counts{0, 1, 9, 20, n_keys}) {
        CAPTURE(at);
        const auto part = [&](std::size_t from, std::size_t to) {
          return partial_attention<key>(seen(cut(x.k, from, to)), cut(x.v, from, to));
        };
        const auto both = [&] { return merge(part(0, at), part(at, n_keys)); };
        CHECK(differs([&] { return tensor(both().output); }, exact) == "");
        CHECK(differs([&] { return tensor(both().log_sum_exp); }, sums) == "");
      }
    });
  }
}

TEST_CASE("special values: attention beside a sink") {
  for (const float of_sink : {0.5F, dimwise_test::not_a_number, infinite, -infinite}) {
    const tensor<float, heads> sinks({0.25F, of_sink}, heads{2});
    CAPTURE(of_sink);
    for (const std::size_t n : counts{2, 6}) {
      each_special(n, [&](const operands& x) {
        const auto f = [&] { return tensor(nn::attention_with_sinks<d_k, key>(x.q, x.k, x.v, sinks)); };
        const auto fast = f();
        const plain_loops only;
        CHECK(unlike(fast, f()) == "");
      });
    }
  }
}

TEST_CASE("special values: attention of what caches hold") {
  using held = nn::kv_cache<key, nn::capacity<>, nn::keys<float, batch, heads, key, d_k>,
                            nn::values<float, batch, key, heads, d_v>>;
  using pages = nn::kv_cache<key, nn::paged<8>, nn::keys<float, batch, heads, key, d_k>,
                             nn::values<float, batch, key, heads, d_v>>;
  for (const std::size_t n : counts{1, 6}) {
    each_special(n, [&](const operands& x) {
      const auto visible = [&](const auto& k) { return masked(scores<d_k>(x.q, k), causal<seq, key>{}); };
      const auto exact = reference(contract<key>(softmax<key>(visible(cut(x.k, 0, n_keys))), x.v));
      held cache(batch{1}, heads{2}, key{64}, d_k{5}, d_v{5});
      cache.append(x.k, x.v);
      CHECK(differs([&] { return tensor(nn::attend(cache, visible)); }, exact) == "");
      pages paged(batch{1}, heads{2}, d_k{5}, d_v{5});
      paged.append(x.k, x.v);
      CHECK(differs([&] { return tensor(nn::attend(paged, visible)); }, exact) == "");
    });
  }
}

TEST_CASE("special values: attention by documents") {
  struct text : packed_dim<> {
    using packed_dim<>::packed_dim;
  };
  struct text_key : prime<text> {
    using prime<text>::prime;
  };
  const text all{{3, 0, 7, 1, 10}};
  const text_key all_keys{{3, 0, 7, 1, 10}};
  each_special(n_keys, [&](const operands& x) {
    tensor<float, text, heads, d_k> q(all, heads{2}, d_k{5});
    tensor<float, text_key, heads, d_k> k(all_keys, heads{2}, d_k{5});
    tensor<float, text_key, heads, d_v> v(all_keys, heads{2}, d_v{5});
    q.assign(x.q.values());
    k.assign(x.k.values());
    v.assign(x.v.values());
    const auto attended = [&](const auto& mask) {
      return contract<text_key>(softmax<text_key>(masked(scores<d_k>(q, k), mask)), v);
    };
    const document<text, text_key> apart;
    CHECK(disagreement(attended(apart), plan_kind::attention) == "");
    CHECK(disagreement(attended(apart & causal<text, text_key>{}), plan_kind::attention) == "");
  });
}

namespace {

struct six : position_dim<6> {};
struct six_keys : prime<six> {};
struct features : feature_dim<9> {};
struct of_values : feature_dim<11> {};

}  // namespace

TEST_CASE("special values: attention and products of static extents") {
  const auto q0 = evaluate(abs(drawn<tensor<float, six, features>>(1)) + 0.25F);
  const auto k0 = drawn<tensor<float, six_keys, features>>(2);
  const auto v0 = drawn<tensor<float, six_keys, of_values>>(3);
  const auto check = [&](const auto& q, const auto& k, const auto& v) {
    const auto s = scores<features>(q, k);
    CHECK(disagreement(contract<six_keys>(softmax<six_keys>(s), v), plan_kind::attention) == "");
    CHECK(disagreement(contract<six_keys>(softmax<six_keys>(masked(s, causal<six, six_keys>{})), v),
                       plan_kind::attention) == "");
    CHECK(disagreement(contract<six_keys>(softmax<six_keys>(masked(s, window<six, six_keys>(1, 2))), v),
                       plan_kind::attention) == "");
    CHECK(disagreement(contract<features>(q, k), plan_kind::product) == "");
  };
  for (const float number : special::numbers(2e38F)) {
    CAPTURE(number);
    auto q = q0;
    auto k = k0;
    auto v = v0;
    for (std::size_t j = 0; j < 6; ++j) {
      CAPTURE(j);
      elements(q)[j * 9 + j] = number;
      check(q, k0, v0);
      q = q0;
      elements(k)[j * 9 + 3] = number;
      check(q0, k, v0);
      elements(k)[j * 9 + 3] = -infinite;
      elements(v)[j * 11 + j] = number;
      check(q0, k0, v);
      check(q0, k, v);
      k = k0;
      v = v0;
    }
    for (std::size_t j = 0; j < 6; ++j) { elements(k)[j * 9] = -infinite; }
    elements(v)[0] = number;
    check(q0, k, v);
  }
  // Scales of zero, NaN and infinities.
  for (const float c : {infinite, -infinite, dimwise_test::not_a_number, 0.0F}) {
    CAPTURE(c);
    const auto s = scaled(contract<features>(q0, k0), c);
    const plan_kind kind = c == 0 ? plan_kind::attention : plan_kind::product;
    CHECK(disagreement(contract<six_keys>(softmax<six_keys>(s), v0), kind) == "");
    CHECK(disagreement(contract<six_keys>(softmax<six_keys>(masked(s, causal<six, six_keys>{})), v0), kind) == "");
  }
}

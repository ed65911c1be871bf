// tests/eval/attention/scores.test.cpp -- documents and functions of scores run in the fused kernel, as the scalar path
// say.
// SPDX-License-Identifier: BSL-1.0
#include "support/numbers.hpp"
#include <dimwise/eval/attention/documents.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

namespace attention_score {

using namespace dimwise;
using namespace dimwise_test;

struct batch : batch_dim<> {};
struct seq : position_dim<> {};
struct key : prime<seq> {};
struct text : packed_dim<> {};
struct text_key : prime<text> {};
struct heads : heads_dim<3> {};
struct d_k : feature_dim<8> {};
struct d_v : feature_dim<5> {};

// The kernel ran, once, and agrees with the scalar path: 8 roundings of scores near 3, passed on by softmax.
template <class E>
std::string fused(const E& e, [[maybe_unused]] plan_kind kind = plan_kind::attention) {
  reset_plans();
  const auto fast = evaluate(e);
  if (kernels::available && plans_run()[kind] != 1) { return std::string("not run as ") + name_of(kind); }
  return differ(fast, evaluate_plainly(e), float32(40));
}

TEST_CASE("documents are attended one by one, with whatever else changes scores") {
  const text queries{{3, 0, 70, 1, 26}};
  const text_key keys{{3, 0, 70, 1, 26}};
  const auto q = drawn<tensor<float, batch, text, heads, d_k>>(1, batch{2}, queries);
  const auto k = drawn<tensor<float, batch, text_key, heads, d_k>>(2, batch{2}, keys);
  const auto v = drawn<tensor<float, batch, text_key, heads, d_v>>(3, batch{2}, keys);
  const auto bias = drawn<tensor<float, heads, text, text_key>>(4, queries, keys);
  const tensor<int, batch> lengths({50, 100}, batch{2});
  const document<text, text_key> apart;
  CHECK(fused(nn::attention<d_k, text_key>(q, k, v, apart)) == "");
  CHECK(fused(nn::attention<d_k, text_key>(q, k, v, causal<text, text_key>{} & apart)) == "");
  CHECK(fused(nn::attention<d_k, text_key>(q, k, v, bias, window<text, text_key>(5, 2) & apart)) == "");
  CHECK(fused(nn::attention<d_k, text_key>(q, k, v, alibi<text, text_key, heads>{}, apart)) == "");
  CHECK(fused(nn::attention<d_k, text_key>(q, k, v, padding<text_key>(lengths) & apart)) == "");
  const auto s = masked(scores<d_k>(q, k), apart);
  const auto part = partial_attention<text_key>(s, v);
  CHECK(differ(part.log_sum_exp, evaluate_plainly(logsumexp<text_key>(s)), float32(40)) == "");
}

TEST_CASE("alibi of grouped heads, which are merged") {
  struct shared : heads_dim<2> {};
  struct own : heads_dim<> {};
  using all_heads = merged<shared, own>;
  for (const std::ptrdiff_t group : {2, 3}) {
    CAPTURE(group);
    const auto q = drawn<tensor<float, batch, seq, shared, own, d_k>>(1, batch{2}, seq{7}, own{group});
    const auto k = drawn<tensor<float, batch, key, shared, d_k>>(2, batch{2}, key{7});
    const auto v = drawn<tensor<float, batch, key, shared, d_v>>(3, batch{2}, key{7});
    const auto s = biased(merge<shared, own>(scores<d_k>(q, k)), alibi<seq, key, all_heads>{});
    const tensor weights = softmax<key>(masked(s, causal<seq, key>{}));
    CHECK(differ(weights, evaluate_plainly(softmax<key>(masked(s, causal<seq, key>{}))), float32(40)) == "");
    // Repeated keys and values for each head: the fused kernel, by slopes of all heads.
    const auto many_k = merge<shared, own>(tensor(broadcast<own>(k, own{group})));
    const auto many_v = merge<shared, own>(tensor(broadcast<own>(v, own{group})));
    const auto many_q = merge<shared, own>(q);
    CHECK(fused(nn::attention<d_k, key>(many_q, many_k, many_v, alibi<seq, key, all_heads>{}, causal<seq, key>{})) ==
          "");
  }
}

TEST_CASE("a document without keys gives 0, documents of other lengths meet by their number") {
  const text queries{{2, 4, 1}};
  const text_key keys{{5, 3, 0}};
  const auto q = drawn<tensor<float, text, heads, d_k>>(1, queries);
  const auto k = drawn<tensor<float, text_key, heads, d_k>>(2, keys);
  const auto v = drawn<tensor<float, text_key, heads, d_v>>(3, keys);
  const auto y = nn::attention<d_k, text_key>(q, k, v, document<text, text_key>{});
  CHECK(fused(y) == "");
  CHECK(differences(tensor(slice<text>(tensor(plain(permute<text, heads, d_v>(y))), 6, 1)), {1, 3, 5}, 0,
                    [](auto...) { return 0.0; }) == "");
}

TEST_CASE("a view within documents has those of its count, and writes no row behind them") {
  const text queries{{3, 4, 2}};
  const text_key keys{{3, 4, 2}};
  const auto q = drawn<tensor<float, text, d_k>>(1, queries);
  const auto k = drawn<tensor<float, text_key, d_k>>(2, keys);
  const auto v = drawn<tensor<float, text_key, d_v>>(3, keys);
  const tensor_view<const float, text, d_k> all_queries(q);
  const tensor_view<const float, text_key, d_k> all_keys(k);
  const tensor_view<const float, text_key, d_v> all_values(v);
  const document<text, text_key> apart;
  const auto part = [&](std::size_t first, const text& n, const text_key& m) {
    return contract<text_key>(
        softmax<text_key>(masked(scores<d_k>(all_queries.within(first, n), all_keys.within(first, m)), apart)),
        all_values.within(first, m));
  };
  std::vector<float> memory(9 * 5, 7.0F);
  tensor_view<float, text, d_v> to(memory.data(), text{{3}});
  to = part(0, text{{3}}, text_key{{3}});
  const tensor whole = evaluate(contract<text_key>(softmax<text_key>(masked(scores<d_k>(q, k), apart)), v));
  for (std::size_t i = 0; i < memory.size(); ++i) {
    CAPTURE(i);
    CHECK(std::abs(memory[i] - (i < 15 ? whole.values()[i] : 7)) < 1e-5F);
  }
  CHECK(fused(part(3, text{{4, 2}}, text_key{{4, 2}})) == "");
  // Unsaid ones are unknown: the mask asks for them.
  CHECK(thrown<extent_error>([&] { (void)part(0, text(), text_key()); }) ==
        "document: text and text_key need the lengths of their documents (R19)");
}

TEST_CASE("documents that are not their dimension's extent are refused, and never followed beyond it") {
  // As a packed dimension of somebody's own may say them.
  dimwise::detail::extents_of<dimwise::detail::list<text, text_key>> e;
  e.set(text{{3, 4}});
  e.set(text_key{{3, 4}});
  document<text, text_key>().check(e, "test");
  e.of_atom<text_key>().extent = 6;
  CHECK(thrown<extent_error>([&] { document<text, text_key>().check(e, "test"); }) ==
        "document: the documents of text_key hold 7 positions, its extent is 6 (R19)");
  std::vector<std::size_t> seen;
  dimwise::detail::each_document(e.documents<text>(), e.documents<text_key>(), {0, 5, 0, 6},
                                 [&](const dimwise::detail::attended_part& part) {
    for (const std::size_t n : {part.first_query, part.queries, part.first_key, part.keys}) { seen.push_back(n); }
  });
  CHECK(seen == std::vector<std::size_t>{0, 3, 0, 3, 3, 2, 3, 3});
}

TEST_CASE("documents of another number hide none silently") {
  const auto attend = [](const text& queries, const text_key& keys) {
    const tensor<float, text, d_k> q(queries);
    const tensor<float, text_key, d_k> k(keys);
    (void)masked(scores<d_k>(q, k), document<text, text_key>{});
  };
  const char* const rest =
      "; queries attend to the document of the same number, and one without positions has the length 0 (R19)";
  CHECK(thrown<extent_error>([&] { attend(text{{2, 4}}, text_key{{5, 3, 1}}); }) ==
        std::string("document: text has 2 documents and text_key has 3") + rest);
  CHECK(thrown<extent_error>([&] { attend(text{{2, 4, 1}}, text_key{{5, 3}}); }) ==
        std::string("document: text has 3 documents and text_key has 2") + rest);
  CHECK_NOTHROW(attend(text{{2, 0, 1}}, text_key{{5, 3, 0}}));
}

TEST_CASE("any function of a score is called from the kernel, also for few queries") {
  for (const std::size_t n : {2, 50, 131}) {
    const seq queries{n};
    const key keys{n + 3};
    const auto q = drawn<tensor<float, batch, seq, heads, d_k>>(1, batch{2}, queries);
    const auto k = drawn<tensor<float, batch, key, heads, d_k>>(2, batch{2}, keys);
    const auto v = drawn<tensor<float, batch, key, heads, d_v>>(3, batch{2}, keys);
    const auto bias = drawn<tensor<float, heads, seq, key>>(4, queries, keys);
    const double shift = 0.5;
    const auto own = [&](const auto& s) {
      return map([shift](float x) { return x * x - static_cast<float>(shift); }, s);
    };
    const plan_kind kind = n == 2 ? plan_kind::decode : plan_kind::attention;
    CHECK(fused(nn::attention<d_k, key>(q, k, v, own), kind) == "");
    CHECK(fused(nn::attention<d_k, key>(q, k, v, own, bias,
                                        window<seq, key>(5, 2, starting_at(queries, 0), starting_at(keys, 0))),
                kind) == "");
    CHECK(fused(nn::attention<d_k, key>(q, k, v, [](const auto& s) { return sin(s); }), kind) == "");
  }
}

TEST_CASE("what a function of a score throws arrives, and leaves the destination alone") {
  const auto q = drawn<tensor<float, seq, d_k>>(1, seq{40});
  const auto k = drawn<tensor<float, key, d_k>>(2, key{40});
  const auto v = drawn<tensor<float, key, d_v>>(3, key{40});
  tensor<float, seq, d_v> y(seq{1});
  y.fill(7);
  const auto refuse = [](const auto& s) { return map([](float) -> float { throw std::runtime_error("refused"); }, s); };
  CHECK(thrown<std::runtime_error>([&] { y = nn::attention<d_k, key>(q, k, v, refuse); }) == "refused");
  CHECK(differences(y, {1, 5}, 0, [](auto...) { return 7.0; }) == "");
}

TEST_CASE("a function of a score is asked about scores that exist, and may evaluate formulas of its own") {
  for (const std::size_t n : {2, 6, 50, 100}) {
    auto q = drawn<tensor<float, seq, d_k>>(1, seq{n});
    auto k = drawn<tensor<float, key, d_k>>(2, key{n});
    q = abs(q);
    k = abs(k);
    const auto v = drawn<tensor<float, key, d_v>>(3, key{n});
    const auto positive = [](const auto& s) {
      return map([](float x) { return x > 0 ? std::log(x) : throw std::runtime_error("a score that no pair has"); }, s);
    };
    const plan_kind kind = n == 2 ? plan_kind::decode : plan_kind::attention;
    CHECK(fused(nn::attention<d_k, key>(q, k, v, positive), kind) == "");
    CHECK(fused(nn::attention<d_k, key>(q, k, v, positive, window<seq, key>(20, 3)), kind) == "");
    // A product of this size takes memory for its own kernel, in the middle of that of the attention.
    const auto x = drawn<tensor<float, seq, d_k>>(4, seq{64});
    const auto w = drawn<tensor<float, d_k, d_v>>(5);
    const auto b = drawn<tensor<float, d_v>>(6);
    const auto nested = [&](const auto& s) {
      return map([&](float e) {
        return e * tensor(relu(contract<d_k>(x, w) + b))(dimwise::id<seq>{0}, dimwise::id<d_v>{0});
      }, s);
    };
    reset_plans();
    const tensor fast = nn::attention<d_k, key>(q, k, v, nested);
    CHECK((!kernels::available || plans_run()[kind] == 1));
    CHECK(differ(fast, evaluate_plainly(nn::attention<d_k, key>(q, k, v, nested)), float32(40)) == "");
  }
}

TEST_CASE("windows of any width skip what they hide, on both sides") {
  for (const std::size_t n : {1, 16, 63, 100, 260}) {
    const auto q = drawn<tensor<float, seq, heads, d_k>>(1, seq{n});
    auto k = drawn<tensor<float, key, heads, d_k>>(2, key{n});
    auto v = drawn<tensor<float, key, heads, d_v>>(3, key{n});
    for (const std::ptrdiff_t before : {0, 1, 7, 20, 90, 200}) {
      for (const std::ptrdiff_t after : {0, 3, 40}) {
        CAPTURE(n);
        CAPTURE(before);
        CAPTURE(after);
        const plan_kind kind = n == 1 ? plan_kind::decode : plan_kind::attention;
        CHECK(fused(nn::attention<d_k, key>(q, k, v, window<seq, key>(before, after)), kind) == "");
        CHECK(fused(nn::attention<d_k, key>(q, k, v, nn::soft_cap{2}, window<seq, key>(before, after)), kind) == "");
      }
    }
  }
}

TEST_CASE("biases along keys, along queries and keys, and masks beside them") {
  for (const std::size_t n : {5, 64, 130}) {
    const auto q = drawn<tensor<float, seq, heads, d_k>>(1, seq{n});
    const auto k = drawn<tensor<float, key, heads, d_k>>(2, key{n});
    const auto v = drawn<tensor<float, key, heads, d_v>>(3, key{n});
    auto of_keys = drawn<tensor<float, key>>(4, key{n});
    auto of_pairs = drawn<tensor<float, seq, key>>(5, seq{n}, key{n});
    const auto allowed = [&] {
      tensor<bool, key> t(key{n});
      for (std::size_t j = 0; j < n; ++j) { t.data()[j] = j % 3 != 1; }
      return t;
    }();
    const plan_kind kind = plan_kind::attention;
    CHECK(fused(nn::attention<d_k, key>(q, k, v, of_keys), kind) == "");
    CHECK(fused(nn::attention<d_k, key>(q, k, v, of_pairs), kind) == "");
    CHECK(fused(nn::attention<d_k, key>(q, k, v, allow(allowed)), kind) == "");
    CHECK(fused(nn::attention<d_k, key>(q, k, v, of_keys, allow(allowed)), kind) == "");
    CHECK(fused(nn::attention<d_k, key>(q, k, v, of_pairs, allow(allowed)), kind) == "");
    const float hidden = -std::numeric_limits<float>::infinity();
    of_keys.data()[n / 2] = hidden;
    for (std::size_t j = 0; j < n; ++j) { of_pairs.data()[(n - 1) * n + j] = hidden; }  // the last query sees nothing
    for (std::size_t j = 0; j < n; ++j) { of_pairs.data()[(n - 2) * n + j] = j == 0 ? std::nanf("") : hidden; }
    CHECK(fused(nn::attention<d_k, key>(q, k, v, of_keys), kind) == "");
    CHECK(fused(nn::attention<d_k, key>(q, k, v, of_pairs), kind) == "");
  }
}

}  // namespace attention_score

// tests/equations/must_compile.test.cpp -- correct programs that a rule too strict would refuse, c1 to c21.
//
// Each against loops in double. c22, every formula of the paper, is the rest of this folder. SPDX-License-Identifier:
// BSL-1.0
#include "support/numbers.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

namespace must_compile {

using namespace dimwise;
using namespace dimwise_test;

struct batch : batch_dim<> {};
struct seq : position_dim<> {};
struct key : prime<seq> {};
struct src : position_dim<> {};
struct d_model : feature_dim<6> {};
struct heads : heads_dim<2> {};
struct d_k : feature_dim<4> {};
struct d_v : feature_dim<3> {};

const auto x = drawn<tensor<float, batch, seq, d_model>>(1, batch{2}, seq{4});
const auto q = drawn<tensor<float, batch, seq, heads, d_k>>(2, batch{2}, seq{4});
const auto k = drawn<tensor<float, batch, key, heads, d_k>>(3, batch{2}, key{4});
const auto v = drawn<tensor<float, batch, key, heads, d_v>>(4, batch{2}, key{4});

double score(std::size_t b, std::size_t h, std::size_t i, std::size_t j) {
  return sum_of(4, [&](auto d) { return double{el(q, b, i, h, d)} * el(k, b, j, h, d); }) / 2;
}
template <class S, class V>
double attended(std::size_t n, S s, V value) {
  return sum_of(n, [&](auto j) { return std::exp(s(j)) * value(j); }) /
         sum_of(n, [&](auto j) { return std::exp(s(j)); });
}
// The attention of this file with scores s(b, h, i, j), hidden where −∞.
template <class E, class S>
std::string attends(const E& weights, S s) {
  return agrees(contract<key>(weights, v), {2, 2, 4, 3}, 40, [&](auto b, auto h, auto i, auto d) {
    return attended(4, [&](auto j) { return s(b, h, i, j); }, [&](auto j) { return double{el(v, b, j, h, d)}; });
  });
}
constexpr double hidden = -std::numeric_limits<double>::infinity();

TEST_CASE("c1 self-attention after an explicit rename; c3 d_k is not d_v; c4 one head without a heads dimension") {
  const auto w_q = drawn<tensor<float, d_model, d_k>>(5);
  const auto w_k = drawn<tensor<float, d_model, d_k>>(6);
  const auto w_v = drawn<tensor<float, d_model, d_v>>(7);
  const auto y =
      contract<key>(softmax<key>(scores<d_k>(contract<d_model>(x, w_q), rename<seq, key>(contract<d_model>(x, w_k)))),
                    rename<seq, key>(contract<d_model>(x, w_v)));
  const auto in = [](auto b, auto p, const auto& w, auto d) {
    return sum_of(6, [&](auto m) { return double{el(x, b, p, m)} * el(w, m, d); });
  };
  CHECK(agrees(y, {2, 4, 3}, 80, [&](auto b, auto i, auto d) {
    return attended(4, [&](auto j) {
      return sum_of(4, [&](auto e) { return in(b, i, w_q, e) * in(b, j, w_k, e); }) / 2;
    }, [&](auto j) { return in(b, j, w_v, d); });
  }) == "");
}

TEST_CASE("c2 cross-attention with equal extents; c19 run-time batch and positions, static heads and features") {
  const auto k_src = drawn<tensor<float, batch, src, heads, d_k>>(8, batch{2}, src{4});
  const auto v_src = drawn<tensor<float, batch, src, heads, d_v>>(9, batch{2}, src{4});
  CHECK(agrees(contract<src>(softmax<src>(scores<d_k>(q, k_src)), v_src), {2, 2, 4, 3}, 40,
               [&](auto b, auto h, auto i, auto d) {
    return attended(4, [&](auto j) {
      return sum_of(4, [&](auto e) { return double{el(q, b, i, h, e)} * el(k_src, b, j, h, e); }) / 2;
    }, [&](auto j) { return double{el(v_src, b, j, h, d)}; });
  }) == "");
}

TEST_CASE("c5 multi-query attention: keys and values without heads") {
  const auto k1 = drawn<tensor<float, batch, key, d_k>>(10, batch{2}, key{4});
  const auto v1 = drawn<tensor<float, batch, key, d_v>>(11, batch{2}, key{4});
  const auto y = contract<key>(softmax<key>(scores<d_k>(q, k1)), v1);
  CHECK(agrees(permute<batch, heads, seq, d_v>(y), {2, 2, 4, 3}, 40, [&](auto b, auto h, auto i, auto d) {
    return attended(4, [&](auto j) {
      return sum_of(4, [&](auto e) { return double{el(q, b, i, h, e)} * el(k1, b, j, e); }) / 2;
    }, [&](auto j) { return double{el(v1, b, j, d)}; });
  }) == "");
}

TEST_CASE("c6 grouped heads: each key head serves a group of query heads") {
  struct kv_heads : heads_dim<2> {};
  struct per_kv : heads_dim<3> {};
  const auto q6 = drawn<tensor<float, batch, seq, merged<kv_heads, per_kv>, d_k>>(12, batch{2}, seq{4});
  const auto k2 = drawn<tensor<float, batch, key, kv_heads, d_k>>(13, batch{2}, key{4});
  const auto v2 = drawn<tensor<float, batch, key, kv_heads, d_v>>(14, batch{2}, key{4});
  const auto y = contract<key>(softmax<key>(scores<d_k>(split<kv_heads, per_kv>(q6), k2)), v2);
  CHECK(agrees(merge<kv_heads, per_kv>(permute<batch, kv_heads, per_kv, seq, d_v>(y)), {2, 6, 4, 3}, 40,
               [&](auto b, auto h, auto i, auto d) {
    return attended(4, [&](auto j) {
      return sum_of(4, [&](auto e) { return double{el(q6, b, i, h, e)} * el(k2, b, j, h / 3, e); }) / 2;
    }, [&](auto j) { return double{el(v2, b, j, h / 3, d)}; });
  }) == "");
}

TEST_CASE("c7 a bias of heads and keys alone") {
  const auto bias = drawn<tensor<float, heads, key>>(15, key{4});
  CHECK(attends(softmax<key>(biased(scores<d_k>(q, k), bias)),
                [&](auto b, auto h, auto i, auto j) { return score(b, h, i, j) + el(bias, h, j); }) == "");
}

TEST_CASE("c8 a mask for all batches and heads; c9 one of batch and keys; c10 one for each batch") {
  tensor<bool, seq, key> all(seq{4}, key{4});
  tensor<bool, batch, key> padded(batch{2}, key{4});
  tensor<bool, batch, seq, key> each(batch{2}, seq{4}, key{4});
  const auto visible = [](auto b, auto i, auto j) { return (b + i + 2 * j) % 3 != 0 || i == j; };
  for (std::size_t b = 0; b < 2; ++b) {
    for (std::size_t j = 0; j < 4; ++j) {
      padded.set(j <= b + 1, id<batch>(b), id<key>(j));
      for (std::size_t i = 0; i < 4; ++i) {
        all.set(visible(0U, i, j), id<seq>(i), id<key>(j));
        each.set(visible(b, i, j), id<batch>(b), id<seq>(i), id<key>(j));
      }
    }
  }
  const auto s = scores<d_k>(q, k);
  CHECK(attends(softmax<key>(masked(s, allow(all))),
                [&](auto b, auto h, auto i, auto j) { return visible(0U, i, j) ? score(b, h, i, j) : hidden; }) == "");
  CHECK(attends(softmax<key>(masked(s, allow(padded))),
                [&](auto b, auto h, auto i, auto j) { return j <= b + 1 ? score(b, h, i, j) : hidden; }) == "");
  CHECK(attends(softmax<key>(masked(s, allow(each))),
                [&](auto b, auto h, auto i, auto j) { return visible(b, i, j) ? score(b, h, i, j) : hidden; }) == "");
}

TEST_CASE("c11 softmax over the queries on purpose, then renormalised over the keys") {
  const auto w = renormalise<key>(softmax<seq>(scores<d_k>(q, k)));
  const auto raw_weight = [](auto b, auto h, auto i, auto j) {
    return std::exp(score(b, h, i, j)) / sum_of(4, [&](auto t) { return std::exp(score(b, h, t, j)); });
  };
  CHECK(attends(w, [&](auto b, auto h, auto i, auto j) { return std::log(raw_weight(b, h, i, j)); }) == "");
}

TEST_CASE("c12 values and output projection of each head as one matrix") {
  const auto w_v = drawn<tensor<float, d_model, heads, d_v>>(16);
  const auto w_o = drawn<tensor<float, heads, d_v, out<d_model>>>(17);
  const auto a = softmax<key>(scores<d_k>(q, k));
  const auto w_vo = contract<d_v>(w_v, w_o);                         // heads × d_model × out<d_model>
  const auto values = rename<seq, key>(contract<d_model>(x, w_vo));  // batch × key × heads × d_model
  const tensor<float, batch, seq, d_model> y = contract<heads, key>(a, values);
  CHECK(differences(y, {2, 4, 6}, float32(200), [&](auto b, auto i, auto m) {
    return sum_of(2, [&](auto h) {
      return attended(4, [&](auto j) { return score(b, h, i, j); }, [&](auto j) {
        return sum_of(3, [&](auto d) {
          return sum_of(6, [&](auto n) { return double{el(x, b, j, n)} * el(w_v, n, h, d); }) * el(w_o, h, d, m);
        });
      });
    });
  }) == "");
}

TEST_CASE("c13 one embedding for input and output words") {
  struct vocab : choice_dim<7> {};
  const auto E = drawn<tensor<float, vocab, d_model>>(18);
  const auto words = drawn_ids<tensor<id<vocab>, batch, seq>>(19, 7, batch{2}, seq{4});
  const auto h = gather<vocab>(E, words);
  const auto logits = contract<d_model>(h, E);
  CHECK(agrees(logits, {2, 4, 7}, 12, [&](auto b, auto s, auto w) {
    return sum_of(6, [&](auto m) { return double{el(E, el(words, b, s).value, m)} * el(E, w, m); });
  }) == "");
}

TEST_CASE("c14 layers without positions; c15 rotary on a part of the features") {
  struct rot : feature_dim<2> {};
  struct pass : feature_dim<2> {};
  using d_rp = summed<rot, pass>;
  const auto turn = [](const auto& t) {
    return concat<d_rp>(rotary<seq, rot>(slice<d_k, rot>(t, 0)), slice<d_k, pass>(t, 2));
  };
  const auto k_own = drawn<tensor<float, batch, seq, heads, d_k>>(20, batch{2}, seq{4});
  const auto rot_product = contract<rot>(rotary<seq, rot>(slice<d_k, rot>(q, 0)),
                                         rename<seq, key>(rotary<seq, rot>(slice<d_k, rot>(k_own, 0))));
  const auto pass_product = contract<pass>(slice<d_k, pass>(q, 2), rename<seq, key>(slice<d_k, pass>(k_own, 2)));
  const auto a = softmax<key>(scaled<summed<rot, pass>>(rot_product + pass_product));
  const auto turned = [](const auto& t, auto b, auto p, auto h, auto d) {
    const double angle = static_cast<double>(p);
    const double t0 = el(t, b, p, h, 0);
    const double t1 = el(t, b, p, h, 1);
    return d == 0   ? t0 * std::cos(angle) - t1 * std::sin(angle)
           : d == 1 ? t1 * std::cos(angle) + t0 * std::sin(angle)
                    : double{el(t, b, p, h, d)};
  };
  const auto s = [&](auto b, auto h, auto i, auto j) {
    return sum_of(4, [&](auto d) { return turned(q, b, i, h, d) * turned(k_own, b, j, h, d); }) / 2;
  };
  CHECK(attends(a, s) == "");
  CHECK(attends(softmax<key>(scores<d_rp>(turn(q), rename<seq, key>(turn(k_own)))), s) == "");
  CHECK(attends(softmax<key>(scores<d_k>(q, k)), score) == "");  // neither is rotated
}

TEST_CASE("c16 causal with an offset: the last queries against all keys") {
  const auto last = drawn<tensor<float, batch, seq, heads, d_k>>(21, batch{2}, starting_at(seq{2}, 2));
  const auto y = contract<key>(softmax<key>(masked(scores<d_k>(last, k), causal<seq, key>{})), v);
  const auto expected = [&](auto b, auto h, auto i, auto d) {
    return attended(i + 3, [&](auto j) {
      return sum_of(4, [&](auto e) { return double{el(last, b, i, h, e)} * el(k, b, j, h, e); }) / 2;
    }, [&](auto j) { return double{el(v, b, j, h, d)}; });
  };
  CHECK(agrees(y, {2, 2, 2, 3}, 40, expected) == "");
  const auto unplaced = drawn<tensor<float, batch, seq, heads, d_k>>(21, batch{2}, seq{2});
  CHECK(agrees(contract<key>(
                   softmax<key>(masked(scores<d_k>(unplaced, k), causal<seq, key>{starting_at(seq{2}, 2), key{4}})), v),
               {2, 2, 2, 3}, 40, expected) == "");
}

TEST_CASE("c17 a sliding window") {
  const auto s = scores<d_k>(q, k);
  CHECK(attends(softmax<key>(masked(s, window<seq, key>{1, 0})), [](auto b, auto h, auto i, auto j) {
    return j <= i && i <= j + 1 ? score(b, h, i, j) : hidden;
  }) == "");
}

TEST_CASE("c18 T5's relative bias, shared over the batch") {
  struct reach : choice_dim<3> {};
  const auto table = drawn<tensor<float, reach, heads>>(22);
  const auto s = unscaled(contract<d_k>(q, k));
  CHECK(attends(softmax<key>(biased(s, relative_bias<seq, key, reach>(table))), [&](auto b, auto h, auto i, auto j) {
    return 2 * score(b, h, i, j) + el(table, j > i ? 2 : j < i ? 0 : 1, h);
  }) == "");
}

TEST_CASE("c20 linear attention: keys are contracted with values before queries") {
  const auto y = contract<d_k>(q, contract<key>(k, v));
  CHECK(agrees(y, {2, 2, 4, 3}, 60, [](auto b, auto h, auto i, auto d) {
    return sum_of(4, [&](auto j) { return 2 * score(b, h, i, j) * el(v, b, j, h, d); });
  }) == "");
}

TEST_CASE("c21 talking heads") {
  struct heads2 : prime<heads> {};
  const auto mix = drawn<tensor<float, heads, heads2>>(23);
  const auto a = softmax<key>(contract<heads>(scores<d_k>(q, k), mix));
  const auto y = contract<key>(rename<heads2, heads>(a), v);
  CHECK(agrees(permute<batch, heads, seq, d_v>(y), {2, 2, 4, 3}, 60, [&](auto b, auto g, auto i, auto d) {
    return attended(4, [&](auto j) { return sum_of(2, [&](auto h) { return score(b, h, i, j) * el(mix, h, g); }); },
                    [&](auto j) { return double{el(v, b, j, g, d)}; });
  }) == "");
}

}  // namespace must_compile

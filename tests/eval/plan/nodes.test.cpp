// tests/eval/plan/nodes.test.cpp -- plan(expr) names what then runs: every sort of node, with operands in memory order
// and strided ones, so many elements that kernels take them, few, and none.
//
// SPDX-License-Identifier: BSL-1.0
#include "support/numbers.hpp"
#include "support/plans.hpp"

#include <doctest/doctest.h>

#include <string>

namespace {

using namespace dimwise;
using dimwise_test::drawn;
using dimwise_test::drawn_ids;
using dimwise_test::misnamed;

struct batch : batch_dim<> {};
struct heads : heads_dim<> {};
struct seq : position_dim<> {};
struct key : prime<seq> {};
struct cls : position_dim<> {};
struct distance : position_dim<> {};
struct near : position_dim<2> {};
struct d_k : feature_dim<> {};
struct d_v : feature_dim<> {};
struct d_ff : feature_dim<> {};
struct pairs : feature_dim<> {};
struct hot : feature_dim<> {};
struct vocab : choice_dim<> {};
struct layers : batch_dim<2> {};
struct packed : packed_dim<> {
  using packed_dim<>::packed_dim;
};
struct packed_key : prime<packed> {
  using prime<packed>::prime;
};

struct sizes {
  std::size_t batch;
  std::size_t heads;
  std::size_t seq;
  std::size_t d_k;
};

// Which of some formulas are misnamed.
class table {
 public:
  template <class... E>
  void each(const char* group, const E&... e) {
    std::size_t number = 0;
    (one(std::string(group) + ", " + std::to_string(++number), e), ...);
  }
  [[nodiscard]] const std::string& misnamed_formulas() const { return all_; }

 private:
  template <class E>
  void one(const std::string& name, const E& e) {
    note(name, misnamed(e));
    const plain_loops only;
    note(name + " by the scalar path", misnamed(e));
  }
  void note(const std::string& name, const std::string& what) {
    if (!what.empty()) { all_ += name + ": " + what; }
  }
  std::string all_;
};

// Operands of one size.
struct operands {
  sizes n;
  batch b{n.batch};
  heads h{n.heads};
  seq s{n.seq};
  key t{n.seq};
  d_k k{n.d_k};
  d_v v{n.d_k};
  d_ff f{7};
  pairs p{n.d_k / 2};
  tensor<float, batch, heads, seq, d_k> x = drawn<tensor<float, batch, heads, seq, d_k>>(1, b, h, s, k);
  tensor<float, batch, heads, key, d_k> keys = drawn<tensor<float, batch, heads, key, d_k>>(2, b, h, t, k);
  tensor<float, batch, heads, key, d_v> values = drawn<tensor<float, batch, heads, key, d_v>>(3, b, h, t, v);
  tensor<float, heads, d_k, d_ff> w = drawn<tensor<float, heads, d_k, d_ff>>(4, h, k, f);
  tensor<float, d_k> row = drawn<tensor<float, d_k>>(5, k);
};

// Calls f(operands, table) for each size.
template <class F>
std::string misnamed_of(const F& f) {
  table t;
  for (const sizes& n : {sizes{2, 3, 20, 16}, {1, 1, 2, 4}, {0, 2, 5, 4}, {2, 3, 0, 16}, {2, 2, 17, 0}}) {
    f(operands{n}, t);
  }
  return t.misnamed_formulas();
}

}  // namespace

TEST_CASE("plan: names what runs, looks") {
  CHECK(misnamed_of([](const operands& o, table& t) {
    const auto& x = o.x;
    const auto across = permute<d_k, seq, heads, batch>(x);
    const auto one_query = at<seq>(drawn<tensor<float, batch, heads, seq, d_k>>(1, o.b, o.h, seq{2}, o.k), 1);
    t.each("looks", across, rename<seq, key>(x), relabel<seq, d_ff>(gelu(x)), exp(merge<heads, d_k>(across)),
           exp(split<heads, d_k>(merge<heads, d_k>(x + x))),
           gelu(relabel<merged<heads, d_k>, hot>(merge<heads, d_k>(across))), exp(broadcast<layers>(x)), plain(gelu(x)),
           exp(slice<d_k, hot>(across, 0, o.n.d_k / 2)), exp(slice<seq>(x, 0, o.n.seq / 2)), exp(one_query),
           exp(diagonal<seq, key>(plain(scores<d_k>(x, o.keys)))));
  }) == "");
}

TEST_CASE("plan: names what runs, elements") {
  CHECK(misnamed_of([](const operands& o, table& t) {
    const auto& x = o.x;
    const auto across = permute<d_k, seq, heads, batch>(x);
    t.each("elements", gelu(x), gelu(across), exp(exp(x)), x + x, x * o.row, x + across, x - 1.0F,
           map([](float z) { return z + 1; }, gelu(x)), -x, sin(x), 2.0F / x,
           exp(at<seq>(broadcast<seq>(o.row, seq{1}), 0)));
  }) == "");
}

TEST_CASE("plan: names what runs, rows") {
  CHECK(misnamed_of([](const operands& o, table& t) {
    const auto& x = o.x;
    const auto across = permute<d_k, seq, heads, batch>(x);
    t.each("rows", standardize<d_k>(x), standardize<d_k>(across), layer_norm<d_k>(across, o.row, o.row),
           layer_norm<d_k>(x * 2.0F, o.row, exp(o.row)), rms_norm<d_k>(x, o.row),
           rms_norm<d_k>(x, at<near>(broadcast<near>(o.row), 0)), cumsum<seq>(x), cumprod<seq>(x), sort<seq>(x),
           sort<d_k>(x, descending{}), standardize<heads, d_k>(x), sum<d_k>(standardize<d_k>(x)), layer_norm<d_k>(x),
           sum<d_k>(layer_norm<d_k>(x, o.row, o.row)));
  }) == "");
}

TEST_CASE("plan: names what runs, products") {
  CHECK(misnamed_of([](const operands& o, table& t) {
    const auto& x = o.x;
    const auto across = permute<d_k, seq, heads, batch>(x);
    const auto one_query = at<seq>(drawn<tensor<float, batch, heads, seq, d_k>>(1, o.b, o.h, seq{2}, o.k), 1);
    const auto raw = scores<d_k>(x, o.keys);
    t.each("products", contract<heads, d_k>(x, o.w), contract<d_k>(x, o.w), contract<d_k>(across, gelu(o.w)),
           gelu(contract<heads, d_k>(x, o.w)) + contract<heads, d_k>(x, o.w),
           contract<heads, d_k>(x, o.w) + drawn<tensor<float, d_ff>>(6, o.f),
           outer(one_query, drawn<tensor<float, d_ff>>(6, o.f)), contract<seq>(x, x, along<heads, d_k>{}),
           contract<key>(renormalise<key>(plain(exp(raw))), o.values), raw, softmax<key>(raw), log_softmax<key>(raw),
           softmax<key>(permute<key, seq, batch, heads>(raw)));
  }) == "");
}

TEST_CASE("plan: names what runs, attention") {
  CHECK(misnamed_of([](const operands& o, table& t) {
    const auto& x = o.x;
    const auto raw = scores<d_k>(x, o.keys);
    const auto attend = [&](const auto& z) { return contract<key>(softmax<key>(z), o.values); };
    const auto visible = drawn<tensor<bool, seq, key>>(7, o.s, o.t);
    tensor<int, batch> lengths(o.b);
    lengths.fill(static_cast<int>(o.n.seq / 2));
    const auto bias = drawn<tensor<float, heads, seq, key>>(8, o.h, o.s, o.t);
    const auto of_table = relative_bias<seq, key, distance>(
        exp(drawn<tensor<float, heads, distance>>(9, o.h, distance{2 * o.n.seq + 1})));
    t.each("attention", attend(raw), contract<key>(o.values, softmax<key>(raw)),
           attend(masked(raw, causal<seq, key>{})), attend(masked(raw, allow(visible))),
           attend(masked(raw, padding<key>(lengths * 1) & window<seq, key>{3, 0})),
           attend(masked(raw, causal<seq, key>{} | window<seq, key>{1, 1})), attend(biased(raw, bias * 2.0F)),
           attend(biased(raw, alibi<seq, key, heads>{})), attend(biased(raw, of_table)),
           attend(map([](float z) { return z * 2; }, raw)), attend(biased(biased(raw, bias), bias)),
           gelu(permute<d_v, batch, seq, heads>(attend(raw))),
           contract<key>(permute<key, seq, heads, batch>(softmax<key>(raw)), o.values),
           contract<key>(softmax<key>(masked(raw + raw, allow(visible))), o.values + o.values));
  }) == "");
}

TEST_CASE("plan: names what runs, masks") {
  CHECK(misnamed_of([](const operands& o, table& t) {
    const auto& x = o.x;
    const auto raw = scores<d_k>(x, o.keys);
    const auto visible = drawn<tensor<bool, seq, key>>(7, o.s, o.t);
    tensor<int, batch> lengths(o.b);
    lengths.fill(static_cast<int>(o.n.seq / 2));
    const tensor<double, batch> real_lengths(o.b);
    const auto bias = drawn<tensor<float, heads, seq, key>>(8, o.h, o.s, o.t);
    t.each("masks", softmax<key>(masked(raw, !allow(visible))),
           exp(masked(raw, padding<key>(lengths + lengths) & allow_of(block(visible)))), indicator(allow(visible)),
           indicator(causal<seq, key>{}, o.s, o.t), sum<key>(masked(plain(raw), allow(visible))),
           max<key>(plain(raw), padding<key>(lengths * 2)), mean<seq>(gelu(x)),
           masked(raw, padding<key>(map([](double z) { return static_cast<int>(z); }, real_lengths + real_lengths))),
           biased(raw, bias + bias), softmax<key>(biased(masked(raw, causal<seq, key>{}), alibi<seq, key, heads>{})),
           logsumexp<key>(raw), sum<d_k>(x), min<heads, d_k>(gelu(x)));
  }) == "");
}

TEST_CASE("plan: names what runs, positions") {
  CHECK(misnamed_of([](const operands& o, table& t) {
    const auto& x = o.x;
    const auto attend = [&](const auto& z) { return contract<key>(softmax<key>(z), o.values); };
    const auto angles = drawn<tensor<float, seq, pairs>>(10, o.s, o.p);
    tensor<int, seq> places(o.s);
    t.each(
        "positions", sinusoid<seq, d_k>(o.s, o.k), rotary<seq, d_k>(x + x), rotary<seq, d_k>(x, places * 2),
        rotary<seq, d_k>(x, cos(angles), sin(angles)),
        skew<seq, distance, key>(
            contract<d_k>(x, drawn<tensor<float, heads, distance, d_k>>(11, o.h, distance{2 * o.n.seq + 1}, o.k)), o.t),
        attend(scores<d_k>(rotary<seq, d_k>(x), rename<seq, key>(rotary<seq, d_k>(x)))));
  }) == "");
}

TEST_CASE("plan: names what runs, joins") {
  CHECK(misnamed_of([](const operands& o, table& t) {
    const auto& x = o.x;
    const auto across = permute<d_k, seq, heads, batch>(x);
    const auto letters = drawn<tensor<float, vocab, d_k>>(12, vocab{5}, o.k);
    const auto ids = drawn_ids<tensor<id<vocab>, batch, seq>>(13, 5, o.b, o.s);
    const auto token = drawn<tensor<float, cls, heads, batch, d_k>>(14, o.b, o.h, cls{1}, o.k);
    t.each("joins", gather<vocab>(letters * 2.0F, ids), concat<seq>(x, gelu(x)),
           concat<seq>(across, standardize<d_k>(x)), stack<layers>(x, exp(x)),
           permute<d_k, seq, layers, heads, batch>(stack<layers>(x, exp(x))),
           concat<summed<cls, seq>>(gelu(token), exp(x)), exp(part<seq>(concat<summed<cls, seq>>(token, x))),
           concat<d_k>(across, gelu(across)));
  }) == "");
}

TEST_CASE("plan: names what runs, low-precision elements") {
  CHECK(misnamed_of([](const operands& o, table& t) {
    const auto& x = o.x;
    tensor<std::int8_t, batch, heads, key, d_k> bits(o.b, o.h, o.t, o.k);
    bits.fill(3);
    const auto of_heads = drawn<tensor<float, heads>>(15, o.h);
    const auto widen_and_attend = [&](const auto& k) {
      return contract<key>(softmax<key>(scores<d_k>(x, k)), o.values);
    };
    t.each("low-precision elements", dequantised(bits, of_heads), widen_and_attend(dequantised(bits, exp(of_heads))),
           widen_and_attend(dequantised(permute<heads, d_k, key, batch>(bits), exp(of_heads))),
           exp(widened(tensor<bfloat16, seq, d_k>(o.s, o.k))));
  }) == "");
}

TEST_CASE("plan: windows and documents") {
  const auto x = drawn<tensor<float, seq, d_k>>(1, seq{40}, d_k{16});
  const packed p{{3, 20, 1}};
  const packed_key t{{3, 20, 1}};
  const auto q = drawn<tensor<float, packed, d_k>>(2, p, d_k{8});
  const auto keys = drawn<tensor<float, packed_key, d_k>>(3, t, d_k{8});
  const auto values = drawn<tensor<float, packed_key, d_v>>(4, t, d_v{8});
  const auto masked_scores =
      masked(scores<d_k>(q, keys), document<packed, packed_key>{} & causal<packed, packed_key>{});
  table all;
  all.each("windows", unroll<seq, near>(x), exp(unroll<seq, near>(x)), max<near>(pool<seq, near>(gelu(x))),
           gelu(pool<seq, near>(permute<d_k, seq>(x))));
  all.each("documents", softmax<packed_key>(masked_scores),
           contract<packed_key>(softmax<packed_key>(masked_scores), values), rotary<packed, d_k>(q));
  CHECK(all.misnamed_formulas() == "");
}

TEST_CASE("plan: static extents, planned by the compiler") {
  struct four : position_dim<4> {};
  struct four_keys : prime<four> {};
  struct one_query : position_dim<5> {};
  struct width : feature_dim<8> {};
  struct depth : feature_dim<12> {};
  const auto x = drawn<tensor<float, four, width>>(1);
  const auto keys = drawn<tensor<float, four_keys, width>>(2);
  const auto values = drawn<tensor<float, four_keys, depth>>(3);
  const auto more = drawn<tensor<float, one_query, width>>(4);
  const auto w = drawn<tensor<float, width, depth>>(5);
  table t;
  const auto attend = [&](const auto& s) { return contract<four_keys>(softmax<four_keys>(s), values); };
  t.each("static", contract<width>(x, w), contract<four>(x, x, along<width>{}), attend(scores<width>(x, keys)),
         contract<four_keys>(softmax<four_keys>(relabel<one_query, one_query>(scores<width>(more, keys))), values),
         attend(masked(scores<width>(x, keys), causal<four, four_keys>{})),
         attend(biased(scores<width>(x, keys), drawn<tensor<float, four, four_keys>>(6))),
         contract<depth>(contract<width>(x, w), drawn<tensor<float, depth, out<depth>>>(7)),
         gelu(contract<width>(x, w)));
  CHECK(t.misnamed_formulas() == "");
}

TEST_CASE("plan: what joins and what goes by ids has its name") {
  const tensor<float, seq, d_k> x(seq{3}, d_k{4});
  const tensor<id<vocab>, seq> ids(seq{3});
  CHECK(plan(concat<seq>(x, x)).text().find("concat -> seq[6]") != std::string::npos);
  CHECK(plan(stack<layers>(x, x)).text().find("stack -> layers[2]") != std::string::npos);
  CHECK(plan(gather<vocab>(tensor<float, vocab, d_k>(vocab{5}, d_k{4}), ids)).text().find("gather -> seq[3]") !=
        std::string::npos);
  CHECK(plan(one_hot<vocab>(ids, vocab{5})).text().find("one_hot -> seq[3]") != std::string::npos);
  CHECK(plan(scatter_add<vocab, seq>(x, ids, vocab{5})).text().find("scatter_add -> vocab[5]") != std::string::npos);
}

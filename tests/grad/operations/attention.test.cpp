// SPDX-License-Identifier: BSL-1.0
// Stored attention: the gradients of the kernel against those of the general way in float64, and which way ran.
#include "grad/nodes.hpp"

#include <cmath>
#include <limits>

using namespace grad_tests;

namespace {

struct kv_heads : heads_dim<2> {};
struct group : heads_dim<3> {};
struct wide : feature_dim<20> {};
struct values : feature_dim<17> {};

// Gradients by the kernel in float and in double, and by the reference loops in double. The bound: roundings of sums of
// up to 40 keys and 20 features, of terms of order 1 to 10.
template <class M, class F>
void check_attention(const M& model, const F& attend, bool by_kernel = true, bool in_double = true) {
  const auto loss = [&](const auto& m) {
    const tensor z = attend(m);
    return weighed(z);
  };
  const auto exact = [&] {
    const plain_loops only;
    return value_and_gradient(converted<double>(model), loss);
  }();
  const auto check = [&](const auto& of, bool kernel, double bound) {
    context cx;
    const use_context scope(cx);
    const auto fast = value_and_gradient(of, loss);
    CHECK((cx.counts().of[static_cast<std::size_t>(plan_kind::attention)] == 2) == kernel);
    CHECK(std::abs(fast.value - exact.value) < 10 * bound * (1 + std::abs(exact.value)));
    for_each_parameter_of([&](const std::string& name, const auto& a, const auto& b) {
      INFO(name);
      double largest = 0;
      for (std::size_t i = 0; i < b.size(); ++i) { largest = std::max(largest, std::abs(b.data()[i])); }
      for (std::size_t i = 0; i < a.size(); ++i) {
        CHECK(std::abs(a.data()[i] - b.data()[i]) <= bound * (largest + 1));
      }
    }, fast.gradient, exact.gradient);
  };
  check(model, by_kernel, 1e-5);
  check(converted<double>(model), by_kernel && in_double, 2e-14);
}

auto roles(std::size_t n, std::size_t keys) {
  return std::tuple(drawn<tensor<float, batch, seq, heads, wide>>(1, batch{2}, seq{n}),
                    drawn<tensor<float, batch, key, heads, wide>>(2, batch{2}, key{keys}),
                    drawn<tensor<float, batch, key, heads, values>>(3, batch{2}, key{keys}));
}

}  // namespace

TEST_CASE("masks, caps and biases that are no parameters") {
  const auto all = roles(33, 33);
  const tensor<int, batch> lengths({20, 0}, batch{2});
  const auto bias = drawn<tensor<float, heads, seq, key>>(4, seq{33}, key{33});
  const auto with = [](auto change) {
    return [change](const auto& m) {
      const auto& [q, k, v] = m;
      return contract<key>(softmax<key>(change(scores<wide>(q, k))), v);
    };
  };
  check_attention(all, with([](const auto& s) { return s; }));
  check_attention(all, with([](const auto& s) { return masked(s, causal<seq, key>{}); }));
  check_attention(all, with([](const auto& s) { return masked(s, window<seq, key>{3, 2}); }));
  check_attention(all, with([&](const auto& s) { return masked(s, padding<key>(lengths) & causal<seq, key>{}); }));
  check_attention(all, with([&](const auto& s) { return masked(biased(s, bias), causal<seq, key>{}); }));
  check_attention(all, with([](const auto& s) { return biased(s, alibi<seq, key, heads>{}); }), true, false);
  check_attention(all, with([](const auto& s) { return masked(tanh(s * 0.5F) * 2.0F, causal<seq, key>{}); }), true,
                  false);
  check_attention(roles(5, 40), with([](const auto& s) { return s; }));
  check_attention(roles(40, 7), with([](const auto& s) { return s; }));
}

TEST_CASE("a learned scale of the scores has a gradient: the general way") {
  const auto model = std::tuple_cat(roles(21, 21), std::tuple(drawn<tensor<float, heads>>(5)));
  const auto with = [](auto change) {
    return [change](const auto& m) {
      const auto& [q, k, v, scale] = m;
      return contract<key>(softmax<key>(change(scores<wide>(q, k), scale)), v);
    };
  };
  check_attention(model, with([](const auto& s, const auto& scale) { return s * scale; }), false);
  check_attention(model, with([](const auto& s, const auto& scale) { return scale * s; }), false);
}

TEST_CASE("values of other keys: the product renames out<key>") {
  const auto model =
      std::tuple(drawn<tensor<float, seq, wide>>(1, seq{11}), drawn<tensor<float, key, wide>>(2, key{11}),
                 drawn<tensor<float, key, out<key>>>(3, key{11}, out<key>{11}));
  check_attention(model, [](const auto& m) {
    const auto& [q, k, v] = m;
    return contract<key>(softmax<key>(scores<wide>(q, k)), v);
  });
}

TEST_CASE("grouped heads, values first, and another order in memory") {
  const auto model = std::tuple(drawn<tensor<float, batch, kv_heads, group, seq, wide>>(1, batch{2}, seq{19}),
                                drawn<tensor<float, batch, kv_heads, key, wide>>(2, batch{2}, key{19}),
                                drawn<tensor<float, key, kv_heads, values, batch>>(3, key{19}, batch{2}));
  check_attention(model, [](const auto& m) {
    const auto& [q, k, v] = m;
    return contract<key>(v, softmax<key>(masked(scores<wide>(q, k), causal<seq, key>{})));
  });
}

TEST_CASE("only some of them are parameters") {
  const auto [q, k, v] = roles(17, 17);
  const auto& keys = k;
  const auto& queries = q;
  check_attention(v, [&](const auto& m) { return contract<key>(softmax<key>(scores<wide>(queries, keys)), m); });
  check_attention(
      q, [&, values = v](const auto& m) { return contract<key>(softmax<key>(scores<wide>(m, keys)), values); });
}

TEST_CASE("a learned bias gets its gradient by the kernel: of every head, of all heads, of a relative position") {
  const auto all = roles(21, 21);
  const auto& q = std::get<0>(all);
  const auto& k = std::get<1>(all);
  const auto& v = std::get<2>(all);
  const auto learned = [&](const auto& bias) {
    check_attention(std::tuple(q, k, v, bias), [](const auto& m) {
      const auto& [a, b, c, d] = m;
      return contract<key>(softmax<key>(masked(biased(scores<wide>(a, b), d), causal<seq, key>{})), c);
    });
  };
  learned(drawn<tensor<float, heads, seq, key>>(4, seq{21}, key{21}));
  learned(drawn<tensor<float, batch, seq, key>>(5, batch{2}, seq{21}, key{21}));
  learned(drawn<tensor<float, key>>(6, key{21}));
  const auto table = drawn<tensor<float, distance, heads>>(7, distance{41});
  check_attention(std::tuple(q, table), [&, keys = k, values_of = v](const auto& m) {
    const auto& [a, d] = m;
    return contract<key>(softmax<key>(biased(scores<wide>(a, keys), relative_bias<seq, key, distance>(d))), values_of);
  });
  const auto grouped = std::tuple(drawn<tensor<float, batch, kv_heads, group, seq, wide>>(1, batch{2}, seq{19}),
                                  drawn<tensor<float, batch, kv_heads, key, wide>>(2, batch{2}, key{19}),
                                  drawn<tensor<float, kv_heads, group, seq, key>>(3, seq{19}, key{19}));
  const auto rows = drawn<tensor<float, batch, kv_heads, key, values>>(4, batch{2}, key{19});
  check_attention(grouped, [&](const auto& m) {
    const auto& [a, b, d] = m;
    return contract<key>(softmax<key>(biased(scores<wide>(a, b), d)), rows);
  });
}

TEST_CASE("no kernel of the backward pass runs where the reference is forced") {
  const auto x = drawn<tensor<float, batch, seq, wide>>(1, batch{2}, seq{32});
  context plain;
  plain.force_reference(true);
  const use_context outer(plain);
  context fast;
  (void)gradient(x, [&](const auto& m) {
    const use_context scope(fast);
    const tensor keys = rename<seq, key>(m);
    const tensor z = contract<key>(softmax<key>(scores<wide>(m, keys)), keys);
    return weighed(z);
  });
  CHECK(fast.counts().of[static_cast<std::size_t>(plan_kind::attention)] == 1);
  CHECK(plain.counts().of[static_cast<std::size_t>(plan_kind::attention)] == 0);
}

TEST_CASE_TEMPLATE("hidden keys and values may be NaN: they have no effect and the gradient 0", T, float, double) {
  auto model = converted<T>(roles(12, 12));
  const tensor<int, batch> lengths({7, 12}, batch{2});
  const auto loss = [&](const auto& m) {
    const auto& [q, k, v] = m;
    const tensor z = contract<key>(softmax<key>(masked(scores<wide>(q, k), padding<key>(lengths))), v);
    return weighed(z);
  };
  const auto clean = value_and_gradient(model, loss);
  for (std::size_t i = 7; i < 12; ++i) {
    std::get<1>(model).set(std::numeric_limits<T>::quiet_NaN(), id<batch>(0), id<key>(i), id<heads>(1), id<wide>(3));
    std::get<2>(model).set(std::numeric_limits<T>::quiet_NaN(), id<batch>(0), id<key>(i), id<heads>(0), id<values>(2));
  }
  const auto dirty = value_and_gradient(model, loss);
  CHECK(clean.value == dirty.value);
  for_each_parameter_of([](const std::string& name, const auto& a, const auto& b) {
    INFO(name);
    for (std::size_t i = 0; i < a.size(); ++i) { CHECK(a.data()[i] == b.data()[i]); }
  }, clean.gradient, dirty.gradient);
  CHECK(std::get<1>(dirty.gradient)(id<batch>(0), id<key>(8), id<heads>(1), id<wide>(3)) == 0);
}

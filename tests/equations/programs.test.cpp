// tests/equations/programs.test.cpp -- experts, contrastive loss, pooling: programs beside attention.
//
// Each against loops in double. SPDX-License-Identifier: BSL-1.0
#include "support/numbers.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace programs {

using namespace dimwise;
using namespace dimwise_test;

struct batch : batch_dim<> {};
struct seq : position_dim<> {};
struct d_model : feature_dim<4> {};
struct d_ff : feature_dim<6> {};
// [routed_dimensions]
struct experts : dimension<ability::parallel | ability::choice, 4> {};
struct best : prime<experts, 2> {};  // the experts that one position goes to: parallel, as experts are
// [/routed_dimensions]

const auto x = drawn<tensor<float, seq, d_model>>(1, seq{5});
const auto w_r = drawn<tensor<float, d_model, experts>>(2);
const auto w1 = drawn<tensor<float, experts, d_model, d_ff>>(3);
const auto w2 = drawn<tensor<float, experts, d_ff, d_model>>(4);

double gate(std::size_t s, std::size_t e) {
  const auto logit = [&](auto f) { return sum_of(4, [&](auto m) { return double{el(x, s, m)} * el(w_r, m, f); }); };
  return std::exp(logit(e)) / sum_of(4, [&](auto f) { return std::exp(logit(f)); });
}
double expert(std::size_t s, std::size_t e, std::size_t m) {
  return sum_of(6, [&](auto f) {
    return std::max(0.0, sum_of(4, [&](auto i) { return double{el(x, s, i)} * el(w1, e, i, f); })) * el(w2, e, f, m);
  });
}
std::vector<std::size_t> two_best(std::size_t s) {
  std::vector<std::size_t> order(4);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return gate(s, a) > gate(s, b); });
  order.resize(2);
  return order;
}
double routed(std::size_t s, std::size_t m) {
  const auto chosen = two_best(s);
  return sum_of(2, [&](auto k) { return gate(s, chosen[k]) * expert(s, chosen[k], m); }) /
         sum_of(2, [&](auto k) { return gate(s, chosen[k]); });
}

TEST_CASE("mixture of experts: the two best experts of every position") {
  // [routing]
  const auto gates = softmax<experts>(contract<d_model>(x, w_r));
  const auto [values, ids] = top_k<experts, best>(gates);
  const auto g = renormalise<best>(values);  // of the chosen ones alone
  const auto h =
      relu(contract<d_model>(x, gather<experts>(w1, ids), along<seq>{}));  // each position by its own experts
  const auto y = contract<best>(g, contract<d_ff>(h, gather<experts>(w2, ids), along<seq>{}), along<seq>{});
  // [/routing]
  // top_k computes at once, in float32: there is no float64 result.
  CHECK(differences(tensor(y), {5, 4}, float32(60), routed) == "");
}

TEST_CASE("mixture of experts: all of them, weighted") {
  // [soft_routing]
  const auto gates = softmax<experts>(contract<d_model>(x, w_r));
  const auto h = relu(contract<d_model>(x, w1));  // seq × experts × d_ff
  const auto y = contract<experts>(gates, contract<d_ff>(h, w2), along<seq>{});
  // [/soft_routing]
  CHECK(agrees(y, {5, 4}, 60,
               [](auto s, auto m) { return sum_of(4, [&](auto e) { return gate(s, e) * expert(s, e, m); }); }) == "");
}

TEST_CASE("mixture of experts: the loss that balances their load") {
  const auto gates = softmax<experts>(contract<d_model>(x, w_r));
  const tensor<id<experts>, experts> every({id<experts>(0), id<experts>(1), id<experts>(2), id<experts>(3)});
  // [load_balance]
  const auto top = argmax<experts>(gates);
  const auto taken = map([](auto a, auto b) { return a == b ? 1.0F : 0.0F; }, broadcast_like(top, every), every);
  const auto loss = 4.0F * contract<experts>(mean<seq>(taken), mean<seq>(plain(gates)));  // N Σ_e f_e P_e
  // [/load_balance]
  CHECK(differences(dimwise::reference(loss), {}, float64, [] {
    return 4 * sum_of(4, [](auto e) {
      return sum_of(5, [&](auto s) { return two_best(s)[0] == e ? 0.2 : 0.0; }) *
             sum_of(5, [&](auto s) { return gate(s, e) / 5; });
    });
  }) == "");
}

TEST_CASE("contrastive loss: every text is a candidate for every image") {
  struct candidates : choice_dim<> {};
  const auto image = drawn<tensor<float, batch, d_model>>(5, batch{3});
  const auto text = drawn<tensor<float, batch, d_model>>(6, batch{3});
  const double temperature = 0.5;
  // [contrastive]
  const auto unit = [](const auto& t) { return t / sqrt(sum<d_model>(square(t))); };
  const auto sim = contract<d_model>(unit(image), relabel<batch, candidates>(unit(text))) / temperature;
  const auto sim_t = contract<d_model>(unit(text), relabel<batch, candidates>(unit(image))) / temperature;
  const auto of = [](const auto& s) { return -mean<batch>(diagonal<batch, candidates>(log_softmax<candidates>(s))); };
  const auto loss = (of(sim) + of(sim_t)) / 2;
  // [/contrastive]
  const auto norm = [](const auto& t, auto b) {
    return std::sqrt(sum_of(4, [&](auto m) { return double{el(t, b, m)} * el(t, b, m); }));
  };
  const auto s = [&](auto b, auto c) {
    return sum_of(4, [&](auto m) { return double{el(image, b, m)} * el(text, c, m); }) / norm(image, b) /
           norm(text, c) / temperature;
  };
  const auto rows = [&](auto f) {
    return -sum_of(3, [&](auto b) {
      return f(b, b) - std::log(sum_of(3, [&](auto c) { return std::exp(f(b, c)); }));
    }) / 3;
  };
  CHECK(differences(dimwise::reference(loss), {}, float64,
                    [&] { return (rows(s) + rows([&](auto b, auto c) { return s(c, b); })) / 2; }) == "");
}

TEST_CASE("masked mean pooling: one vector for each sequence") {
  const auto h = drawn<tensor<float, batch, seq, d_model>>(7, batch{3}, seq{5});
  const tensor<int, batch> lengths({5, 2, 1}, batch{3});
  // [mean_pooling]
  const auto pooled = mean<seq>(h, padding<seq>(lengths));
  const auto spelled = contract<seq>(h, indicator(padding<seq>(lengths), seq{5})) /
                       map([](int n) { return static_cast<float>(n); }, lengths);
  // [/mean_pooling]
  const auto expected = [&](auto b, auto m) {
    const auto n = static_cast<std::size_t>(el(lengths, b));
    return sum_of(n, [&](auto s) { return double{el(h, b, s, m)}; }) / static_cast<double>(n);
  };
  CHECK(agrees(pooled, {3, 4}, 8, expected) == "");
  CHECK(agrees(spelled, {3, 4}, 12, expected) == "");
}

TEST_CASE("attention pooling: a learned query for the whole sequence") {
  const auto h = drawn<tensor<float, batch, seq, d_model>>(8, batch{2}, seq{5});
  const auto query = drawn<tensor<float, d_model>>(9);
  // [attention_pooling]
  const auto pooled = contract<seq>(softmax<seq>(scores<d_model>(query, h)), h);
  // [/attention_pooling]
  CHECK(agrees(pooled, {2, 4}, 30, [&](auto b, auto m) {
    const auto w = [&](auto s) {
      return std::exp(sum_of(4, [&](auto i) { return double{el(query, i)} * el(h, b, s, i); }) / 2);
    };
    return sum_of(5, [&](auto s) { return w(s) * el(h, b, s, m); }) / sum_of(5, w);
  }) == "");
}

}  // namespace programs

// tests/nn/variants.test.cpp -- talking heads, slot attention, and the recurrent cell: against loops in double.
// SPDX-License-Identifier: BSL-1.0
#include "modules.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace modules {

struct mixed : prime<heads> {};
struct value_heads : prime<heads, 3> {};
struct slots : position_dim<> {};
struct inputs : position_dim<> {};

TEST_CASE("talking heads: the formula of the paper, masks on the mixed scores") {
  using attention = nn::talking_heads_attention<d_model, heads, mixed, value_heads, d_k, d_v>;
  const auto module = drawn_module<attention>(1);
  const auto x = drawn<tensor<float, batch, seq, d_model>>(7, batch{2}, seq{4});
  const auto there = rename<seq, key>(x);
  const tensor q = module.query(x);
  const tensor k = module.key(there);
  const tensor v = module.value(there);
  const auto expected = [&](auto b, auto i, auto m) {
    const auto product = [&](auto h, auto j) {
      return sum_of(4, [&](auto c) { return double{el(q, b, i, h, c)} * el(k, b, j, h, c); }) / 2;
    };
    const auto logit = [&](auto g, auto j) {
      return sum_of(2, [&](auto h) { return product(h, j) * el(module.before, h, g); });
    };
    const auto weight = [&](auto g, auto j) {
      return std::exp(logit(g, j)) / sum_of(i + 1, [&](auto t) { return std::exp(logit(g, t)); });
    };
    return sum_of(3, [&](auto o) {
      return sum_of(3, [&](auto d) {
        return el(module.output.weight, o, d, m) * sum_of(i + 1, [&](auto j) {
          return sum_of(2, [&](auto g) { return weight(g, j) * el(module.after, g, o); }) * el(v, b, j, o, d);
        });
      });
    });
  };
  CHECK(module_agrees([&] { return module(x, there, there, causal<seq, key>{}); }, {2, 4, 8}, 100, expected) == "");
}

TEST_CASE("a gated recurrent unit") {
  const auto cell = drawn_module<nn::gru_cell<d_v, d_model>>(11);
  const auto x = drawn<tensor<float, slots, d_v>>(12, slots{2});
  const auto h = drawn<tensor<float, slots, d_model>>(13, slots{2});
  const auto gate = [&](const auto& of_x, const auto& of_h, auto s, auto i) {
    const double a = sum_of(3, [&](auto j) { return double{el(x, s, j)} * el(of_x.weight, j, i); }) + el(of_x.bias, i);
    const double b = sum_of(8, [&](auto j) { return double{el(h, s, j)} * el(of_h.weight, j, i); }) + el(of_h.bias, i);
    return std::pair(a, b);
  };
  const auto sigma = [](auto ab) { return 1 / (1 + std::exp(-ab.first - ab.second)); };
  CHECK(module_agrees([&] { return cell(x, h); }, {2, 8}, 60, [&](auto s, auto i) {
    const double r = sigma(gate(cell.reset_x, cell.reset_h, s, i));
    const double z = sigma(gate(cell.update_x, cell.update_h, s, i));
    const auto [a, b] = gate(cell.new_x, cell.new_h, s, i);
    return (1 - z) * std::tanh(a + r * b) + z * el(h, s, i);
  }) == "");
}

TEST_CASE("slot attention: slots compete, and are updated as often as asked") {
  using module_type = nn::slot_attention<inputs, slots, d_model, hidden, d_k, d_v, inner>;
  auto module = drawn_module<module_type>(17);
  const auto x = drawn<tensor<float, batch, inputs, d_model>>(18, batch{2}, inputs{5});
  const auto first = drawn<tensor<float, batch, slots, hidden>>(19, batch{2}, slots{3});
  using state = tensor<float, batch, slots, hidden>;
  module.iterations = 0;
  CHECK(differ<state>(module(x, first), first) == "");

  // One iteration, the attention in loops and the rest by the modules that are tested above.
  const tensor normed = module.norm_inputs(x);
  const tensor k = module.key(normed);
  const tensor v = module.value(normed);
  const tensor q = module.query(module.norm_slots(first));
  tensor<float, batch, slots, d_v> updates(batch{2}, slots{3});
  for (std::size_t b = 0; b < 2; ++b) {
    const auto share = [&](auto i, auto s) {
      const auto e = [&](auto t) {
        return std::exp(sum_of(4, [&](auto c) { return double{el(k, b, i, c)} * el(q, b, t, c); }) / 2);
      };
      return e(s) / sum_of(3, e);
    };
    for (std::size_t s = 0; s < 3; ++s) {
      for (std::size_t d = 0; d < 3; ++d) {
        const double total = sum_of(5, [&](auto i) { return share(i, s); });
        updates.set(static_cast<float>(sum_of(5, [&](auto i) { return share(i, s) / total * el(v, b, i, d); })),
                    id<batch>(b), id<slots>(s), id<d_v>(d));
      }
    }
  }
  const state next = module.cell(updates, first);
  const state expected = next + module.mlp(module.norm_state(next));
  module.iterations = 1;
  CHECK(differ<state>(module(x, first), expected, float32(100)) == "");
  module.iterations = 2;
  const state twice = module(x, first);
  module.iterations = 1;
  CHECK(differ<state>(twice, module(x, expected), float32(400)) == "");
}

}  // namespace modules

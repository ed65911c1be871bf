// tests/nn/pack_weights.test.cpp -- packed weights: the same bits, never old ones, and products that read them.
//
// SPDX-License-Identifier: BSL-1.0
#include "support/numbers.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>
#include <dimwise/nn.hpp>
#if !defined(DIMWISE_PLAIN_ONLY)
#include <dimwise/eval/kernels/packed_weights_definitions.hpp>
#endif

#include <doctest/doctest.h>

#include <cstring>
#include <tuple>
#include <utility>
#include <vector>

namespace packing {

using namespace dimwise;
using dimwise_test::drawn;
using dimwise_test::thrown;

struct seq : position_dim<> {};
struct d_model : feature_dim<> {};
struct hidden : feature_dim<> {};
struct small : feature_dim<4> {};
struct heads : heads_dim<> {};
struct d_k : feature_dim<> {};

template <class A, class B>
bool same_bits(const A& a, const B& b) {
  return a.size() == b.size() &&
         std::memcmp(a.values().data(), b.values().data(), a.size() * sizeof(typename A::value_type)) == 0;
}
template <class T>
using up_layer = nn::linear<nn::from<d_model>, nn::to<hidden>, nn::with_bias, T>;

template <class T>
up_layer<T> drawn_layer(std::size_t inputs, std::size_t outputs) {
  nn::normal how(3, 0.1);
  auto layer = nn::initialised<up_layer<T>>(how, d_model{inputs}, hidden{outputs});
  layer.bias = drawn<tensor<T, hidden>>(4, hidden{outputs});
  return layer;
}
// A layer of the same elements in memory of its own.
template <class Layer>
Layer unshared(const Layer& layer) {
  Layer other = layer;
  other.weight.assign(layer.weight.values());
  return other;
}

// Extents of one block of k and of several, whose sums also wait, and of more than depth_group blocks; columns of whole
// panels and of a part of a register.
template <class T>
void check_bits() {
  for (const std::pair<std::size_t, std::size_t>& extents :
       {std::pair<std::size_t, std::size_t>{40, 24}, {100, 203}, {800, 129}, {12600, 8}}) {
    const std::size_t inputs = extents.first;
    const std::size_t outputs = extents.second;
    const auto layer = drawn_layer<T>(inputs, outputs);
    const auto packed = unshared(layer);
    CHECK((nn::pack_weights(packed) > 0) == kernels::available);
    for (const std::size_t rows : {1, 5, 16, 17, 40, 150}) {
      INFO(rows, " x ", inputs, " x ", outputs);
      const auto x = drawn<tensor<T, seq, d_model>>(1, seq{rows}, d_model{inputs});
      const auto once = unshared(layer);  // no product packs its weight
      const auto added = drawn<tensor<T, seq, hidden>>(2, seq{rows}, hidden{outputs});
      CHECK(same_bits(packed(x), once(x)));
      CHECK(same_bits(evaluate(gelu(packed.formula(x)) + added), evaluate(gelu(unshared(layer).formula(x)) + added)));
    }
  }
}
TEST_CASE("pack_weights: results have the bits of weights that are not packed") {
  check_bits<float>();
  check_bits<double>();
}

TEST_CASE("pack_weights: a write drops the packed copy, and only of the tensor that is written") {
  const auto x = drawn<tensor<float, seq, d_model>>(1, seq{20}, d_model{64});
  auto layer = drawn_layer<float>(64, 48);
  (void)nn::pack_weights(layer);
  const auto kept = layer;
  const auto before = layer(x);
  const auto check_new = [&] {
    CHECK(same_bits(layer(x), unshared(layer)(x)));
    CHECK(!same_bits(layer(x), before));
    CHECK(same_bits(kept(x), before));
    (void)nn::pack_weights(layer);
    CHECK(same_bits(layer(x), unshared(layer)(x)));
  };
  layer.weight.set(7.0F, id<d_model>(3), id<hidden>(5));  // shared with `kept`: gets elements of its own
  check_new();
  layer.weight.set(8.0F, id<d_model>(3), id<hidden>(5));  // in place
  check_new();
  layer.weight.fill(0.5F);
  check_new();
  layer.weight.data()[7] = 3;
  CHECK(same_bits(layer(x), unshared(layer)(x)));
  layer.weight.seal();
  check_new();
}

TEST_CASE("pack_weights: gradients and steps of an optimizer are those of weights that are not packed") {
  const auto x = drawn<tensor<float, seq, d_model>>(1, seq{20}, d_model{64});
  auto packed = drawn_layer<float>(64, 48);
  auto plain = unshared(packed);
  (void)nn::pack_weights(packed);
  const auto loss = [&](const auto& m) { return mean<seq, hidden>(m(x) * m(x)); };
  sgd of_packed(packed, {.rate = 0.1});
  sgd of_plain(plain, {.rate = 0.1});
  for (int step = 0; step < 3; ++step) {
    const auto [value, gradient] = value_and_gradient(packed, loss);
    const auto [wanted, wanted_gradient] = value_and_gradient(plain, loss);
    CHECK(value == wanted);
    CHECK(same_bits(gradient.weight, wanted_gradient.weight));
    of_packed.step(packed, gradient);
    of_plain.step(plain, wanted_gradient);
    CHECK(same_bits(packed(x), unshared(plain)(x)));
    (void)nn::pack_weights(packed);
  }
}

TEST_CASE("pack_weights: weights that may be written through an address are rejected by name") {
  std::vector<std::tuple<up_layer<float>>> model(2);
  for (auto& one : model) { std::get<0>(one) = drawn_layer<float>(64, 48); }
  std::get<0>(model[1]).weight.data()[0] = 1;
  if (kernels::available) {
    CHECK(thrown<error>([&] { (void)nn::pack_weights(model); }) ==
          "pack_weights: `1.0.weight` may still be written through data(); call its seal() first");
  }
  std::get<0>(model[1]).weight.seal();
  CHECK((nn::pack_weights(model) == 2 * 64 * 48 * sizeof(float)) == kernels::available);
}

TEST_CASE("pack_weights: other weights take no memory, and lists of any modules are walked") {
  nn::normal how(3, 0.1);
  const auto bytes = nn::initialised<nn::linear<nn::from<d_model>, nn::to<hidden>, nn::with_bias, nn::int8_blocks>>(
      how, d_model{64}, hidden{48});
  CHECK(nn::pack_weights(bytes) == 0);
  CHECK(nn::pack_weights(nn::linear<nn::from<small>, nn::to<hidden>>{}) == 0);
  CHECK(nn::pack_weights(nn::linear<nn::from<small>, nn::to<small>>{}) == 0);
  CHECK(nn::pack_weights(nn::layer_norm<d_model>{}) == 0);
  using feed = nn::feed_forward<d_model, hidden>;
  const std::tuple<feed, feed> two{nn::initialised<feed>(how, d_model{64}, hidden{48}),
                                   nn::initialised<feed>(how, d_model{64}, hidden{48})};
  CHECK((nn::pack_weights(two) == 4 * 64 * 48 * sizeof(float)) == kernels::available);
}

#if !defined(DIMWISE_PLAIN_ONLY)

// Writes to the packed copy, which a product that reads it shows.
template <class Layer>
void spoil(const Layer& layer, std::size_t k, std::size_t n) {
  const auto* const copy = layer.weight.derived()->get();
  REQUIRE(copy != nullptr);
  kernels::product_call_of<float> call{};
  call.k = k;
  call.n = n;
  call.b_row = static_cast<std::ptrdiff_t>(n);
  call.b_column = 1;
  const float* const elements = static_cast<const dimwise::detail::packed_weights<float>*>(copy)->elements_for(
      kernels::active(), call, std::as_const(layer.weight).data());
  REQUIRE(elements != nullptr);
  const_cast<float*>(elements)[0] += 100;
}
TEST_CASE(
    "pack_weights: the first product of many rows reads the packed copy, from one dimension or several to several") {
  const auto wide = drawn<tensor<float, seq, d_model>>(1, seq{16}, d_model{64});
  const auto layer = drawn_layer<float>(64, 48);
  const auto before = unshared(layer)(wide);
  CHECK(layer.weight.derived()->get() == nullptr);
  (void)nn::pack_weights(layer);
  spoil(layer, 64, 48);
  CHECK(!same_bits(layer(wide), before));

  nn::normal how(5, 0.1);
  using projection = nn::linear<nn::from<d_model>, nn::to<heads, d_k>>;
  using output = nn::linear<nn::from<heads, d_k>, nn::to<d_model>>;
  const auto q = nn::initialised<projection>(how, d_model{64}, heads{3}, d_k{16});
  const auto o = nn::initialised<output>(how, d_model{64}, heads{3}, d_k{16});
  const auto projected = unshared(q)(wide);
  const auto restored = unshared(o)(projected);
  (void)nn::pack_weights(std::tuple{q, o});
  spoil(q, 64, 48);
  spoil(o, 48, 64);
  CHECK(!same_bits(q(wide), projected));
  CHECK(!same_bits(o(projected), restored));
}

#endif

}  // namespace packing

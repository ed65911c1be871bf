// tests/conformance/gradients/modules.cpp -- gradients of linear, feed-forward, attention with heads, and layers.
// SPDX-License-Identifier: BSL-1.0
#include "layers.hpp"

#include <cmath>

namespace {

using namespace conformance;
using namespace conformance::gradients;
using namespace conformance::gradients::layers;

const std::array<group, 3> of_sequence{group{"batch"}, group{"seq"}, group{"d_model"}};

// Runs f(module, x…): the gradients of the inputs, and those of the module's parameters.
template <class T, class M, class Names, class... In, class Out, class F>
void run_module(program<T>& p, const M& module, const Names& parameters, const std::tuple<In...>& inputs,
                const std::tuple<Out>& output, const F& f) {
  const auto tensors = std::apply([&](const auto&... n) { return std::tuple(p.tensor_of(n)...); }, inputs);
  const auto result = value_and_gradient(std::tuple(module, tensors), [&](const auto& m) {
    const auto y = std::apply([&](const auto&... x) { return f(std::get<0>(m), x...); }, std::get<1>(m));
    return p.weighed(std::get<0>(output), y);
  });
  parameters(std::get<0>(result.gradient), compare_parameters<T>{p});
  std::apply([&](const auto&... n) {
    std::apply([&](const auto&... g) { (p.expect_gradient(n, g), ...); }, std::get<1>(result.gradient));
  }, inputs);
}

template <class T>
void linear_named(program<T>& p) {
  const group from = p.dims("x") & p.dims("w");
  const group beside = p.dims("x") - from;
  const group to = p.dims("w") - from;
  nn::linear<nn::from<features>, nn::to<best>, nn::with_bias, T> layer;
  layer.weight = p.template real<features, best>("w", {from, to});
  const std::array<group, 2> y{beside, to};
  if (p.has("b")) {
    layer.bias = p.template real<best>("b", {to});
  } else {
    layer.bias = tensor<T, best>(best{static_cast<std::ptrdiff_t>(extent_of<best>(layer.weight))});
  }
  run_module(p, layer,
             [&](const auto& g, const auto&) {
    p.expect_gradient(named<features, best>{"w", {from, to}}, g.weight);
    p.expect_gradient(named<best>{"b", {to}}, g.bias);
  }, std::tuple(named<rest, features>{"x", {beside, from}}), std::tuple(named<rest, best>{"y", y}),
             [](const auto& m, const auto& x) { return m(x); });
}

template <class T>
void feed_forward_named(program<T>& p) {
  const auto with = [&](const auto activation) {
    feed_forward_of<T, std::remove_const_t<decltype(activation)>> layer;
    feed_forward_parameters("", layer, load_parameters<T>{p});
    run_module(p, layer, [](const auto& g, const auto& compare) { feed_forward_parameters("", g, compare); },
               std::tuple(named<batch, seq, d_model>{"x", of_sequence}),
               std::tuple(named<batch, seq, d_model>{"y", of_sequence}),
               [](const auto& m, const auto& x) { return m(x); });
  };
  const std::string name = p.text("activation", "relu");
  if (name == "relu") {
    with(nn::activation::relu());
  } else if (name == "gelu") {
    with(nn::activation::gelu());
  } else {
    said_activation::name = name;
    with(said_activation());
  }
}
template <class T>
void feed_forward_gated_named(program<T>& p) {
  nn::gated_feed_forward<d_model, hidden, nn::activation::silu, nn::no_bias, T> layer;
  const auto parameters = [](auto& m, const auto& f) {
    f("w_1", m.gate.weight, {"d_model", "hidden"});
    f("w_3", m.up.weight, {"d_model", "hidden"});
    f("w_2", m.down.weight, {"hidden", "d_model"});
  };
  parameters(layer, load_parameters<T>{p});
  run_module(p, layer, parameters, std::tuple(named<batch, seq, d_model>{"x", of_sequence}),
             std::tuple(named<batch, seq, d_model>{"y", of_sequence}),
             [](const auto& m, const auto& x) { return m(x); });
}

template <class T>
void mha_named(program<T>& p) {
  const std::tuple y(named<batch, seq, d_model>{"y", of_sequence});
  const named<batch, seq, d_model> x{"x", of_sequence};
  const auto lengths = lengths_of(p);
  if (p.says("memory")) {
    const std::string name = p.text("memory");
    const std::string from = (p.dims(name) - group{"batch", "key"}).at(0);
    memory_attention<T, d_memory> layer;
    const auto parameters = [&](auto& m, const auto& f) { attention_parameters("", m, f, from); };
    parameters(layer, load_parameters<T>{p});
    const named<batch, source, d_memory> memory{name, {group{"batch"}, group{"key"}, group{from}}};
    const auto seen = allow(seen_by<seq, source>(p, p.extent("seq"), p.extent("key"), false, lengths));
    run_module(p, layer, parameters, std::tuple(x, memory), y,
               [&](const auto& m, const auto& a, const auto& b) { return m(a, b, seen); });
    return;
  }
  own_attention<T> layer;
  const auto parameters = [](auto& m, const auto& f) { attention_parameters("", m, f); };
  parameters(layer, load_parameters<T>{p});
  const std::size_t n = p.extent("seq");
  const auto seen = allow(seen_by<seq, key>(p, n, n, p.flag("causal"), lengths));
  if (p.has("bias")) {
    const named<heads, seq, key> bias{"bias", {group{"heads"}, group{"seq"}, group{"key"}}};
    run_module(p, layer, parameters, std::tuple(x, bias), y,
               [&](const auto& m, const auto& a, const auto& b) { return m(a, b, seen); });
  } else if (p.flag("causal") && lengths.empty()) {
    run_module(p, layer, parameters, std::tuple(x), y,
               [](const auto& m, const auto& a) { return m(a, causal<seq, key>{}); });
  } else if (lengths.empty()) {
    run_module(p, layer, parameters, std::tuple(x), y, [](const auto& m, const auto& a) { return m(a); });
  } else {
    run_module(p, layer, parameters, std::tuple(x), y, [&](const auto& m, const auto& a) { return m(a, seen); });
  }
}

template <class T>
void encoder_layer_named(program<T>& p) {
  const std::size_t n = p.extent("seq");
  const auto seen = allow(seen_by<seq, key>(p, n, n, p.flag("causal"), lengths_of(p)));
  read_settings(p);
  encoder_of<T> layer;
  const auto parameters = [](auto& m, const auto& f) { encoder_parameters("", m, f); };
  parameters(layer, load_parameters<T>{p});
  layer.norm1.epsilon = layer.norm2.epsilon = p.number("eps", 1e-5);
  run_module(p, layer, parameters, std::tuple(named<batch, seq, d_model>{"x", of_sequence}),
             std::tuple(named<batch, seq, d_model>{"y", of_sequence}),
             [&](const auto& m, const auto& x) { return m(x, seen); });
}
template <class T>
void decoder_layer_named(program<T>& p) {
  const std::size_t n = p.extent("seq");
  const auto own = nn::each(allow(seen_by<seq, key>(p, n, n, p.flag("causal"), {})));
  const auto there = nn::each(allow(seen_by<seq, source>(p, n, p.extent("key"), false, lengths_of(p))));
  read_settings(p);
  decoder_of<T> layer;
  const auto parameters = [](auto& m, const auto& f) { decoder_parameters("", m, f); };
  parameters(layer, load_parameters<T>{p});
  layer.norm1.epsilon = layer.norm2.epsilon = layer.norm3.epsilon = p.number("eps", 1e-5);
  const named<batch, source, d_model> memory{"memory", {group{"batch"}, group{"key"}, group{"d_model"}}};
  run_module(p, layer, parameters, std::tuple(named<batch, seq, d_model>{"x", of_sequence}, memory),
             std::tuple(named<batch, seq, d_model>{"y", of_sequence}),
             [&](const auto& m, const auto& x, const auto& other) { return m(x, other, own, there); });
}

// words[ids] √d_model + sinusoid, one layer, and the words again.
template <class T, class Layer>
struct tied_model {
  using token_embedding_type = tensor<T, vocab, d_model>;
  BOOST_HANA_DEFINE_STRUCT(tied_model, (token_embedding_type, words), (Layer, layer));
};
template <class T>
void tied_language_model_named(program<T>& p) {
  const std::size_t n = p.extent("seq");
  const auto seen = allow(seen_by<seq, key>(p, n, n, p.flag("causal"), lengths_of(p)));
  const auto ids = p.template array_of<id<vocab>>(named<batch, seq>{"ids", {group{"batch"}, group{"seq"}}});
  const double scale = std::sqrt(static_cast<double>(p.extent("d_model")));
  const auto positions = waves<seq, T>(n, p.extent("d_model"));
  read_settings(p);
  tied_model<T, encoder_of<T>> model;
  const auto parameters = [](auto& m, const auto& f) {
    f("words", m.words, {"vocab", "d_model"});
    encoder_parameters("", m.layer, f);
  };
  parameters(model, load_parameters<T>{p});
  model.layer.norm1.epsilon = model.layer.norm2.epsilon = p.number("eps", 1e-5);
  run_module(p, model, parameters, std::tuple(),
             std::tuple(named<batch, seq, vocab>{"logits", {group{"batch"}, group{"seq"}, group{"vocab"}}}),
             [&](const auto& m) {
    const tensor x = gather<vocab>(m.words, ids) * static_cast<T>(scale) + positions;
    return contract<d_model>(m.layer(x, seen), m.words);
  });
}

CONFORMANCE_GRADIENT("linear", linear_named)
CONFORMANCE_GRADIENT("feed_forward", feed_forward_named)
CONFORMANCE_GRADIENT("feed_forward_gated", feed_forward_gated_named)
CONFORMANCE_GRADIENT("mha", mha_named)
CONFORMANCE_GRADIENT("encoder_layer", encoder_layer_named)
CONFORMANCE_GRADIENT("decoder_layer", decoder_layer_named)
CONFORMANCE_GRADIENT("tied_language_model", tied_language_model_named)

}  // namespace

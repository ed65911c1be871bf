// tests/conformance/gradients/layers.hpp -- the modules of nn over the dimensions of the suite of gradients, and what
// the suite calls their parameters.
//
// A bias that a case lacks is 0 and stays it. SPDX-License-Identifier: BSL-1.0
#pragma once

#include "gradients.hpp"

#include <cmath>
#include <stdexcept>

namespace conformance::gradients::layers {

struct batch : batch_dim<> {};
struct seq : position_dim<> {};
struct key : prime<seq> {};
struct source : position_dim<> {};  // the positions of a memory, which the suite calls key
struct source_key : prime<source> {};
struct heads : heads_dim<> {};
struct d_model : feature_dim<> {};
struct d_memory : feature_dim<> {};
struct d_k : feature_dim<> {};
struct d_v : feature_dim<> {};
struct hidden : feature_dim<> {};
struct vocab : choice_dim<> {};
struct source_vocab : choice_dim<> {};

template <class T, class... Options>
using heads_of = nn::multi_head_attention<d_model, heads, d_k, d_v, Options..., nn::elements<T>>;
template <class T, class P = seq, class K = key>
using own_attention = nn::self_attention<P, K, heads_of<T>>;
template <class T, class Model = d_model>
using memory_attention = nn::cross_attention<seq, source, heads_of<T, nn::keys_from<Model>, nn::values_from<Model>>>;
template <class T, class Activation>
using feed_forward_of = nn::feed_forward<d_model, hidden, Activation, nn::with_bias, T>;
template <class T>
using norm_of_features = nn::layer_norm<d_model, nn::elements<T>>;
// The function and the order of a layer as the case names them: one type of layer serves all cases.
struct said_activation {
  static inline std::string name = "relu";
  template <operand X>
  auto operator()(const X& x) const {
    if (name == "gelu") { return tensor(gelu(x)); }
    if (name == "gelu_tanh") { return tensor(gelu_tanh(x)); }
    if (name == "silu") { return tensor(silu(x)); }
    if (name != "relu") { throw std::runtime_error("the activation " + name + " is not known"); }
    return tensor(relu(x));
  }
};
struct said_order {
  static inline bool norm_first = false;
  template <class Norm, class X, class F>
  static auto residual(const Norm& norm, const X& x, const F& f) {
    if (norm_first) { return tensor(nn::pre_norm::residual(norm, x, f)); }
    return tensor(nn::post_norm::residual(norm, x, f));
  }
};
template <class T, class P = seq, class K = key>
using encoder_of =
    nn::encoder_layer<own_attention<T, P, K>, feed_forward_of<T, said_activation>, norm_of_features<T>, said_order>;
template <class T>
using decoder_of = nn::decoder_layer<own_attention<T>, memory_attention<T>, feed_forward_of<T, said_activation>,
                                     norm_of_features<T>, said_order>;

// f(name, parameter, the names of its dimensions) for every parameter of a module.
template <class M, class F>
void attention_parameters(const std::string& before, M& m, const F& f, const std::string& memory = "d_model") {
  f(before + "w_q", m.query.weight, {"d_model", "heads", "d_k"});
  f(before + "w_k", m.key.weight, {memory, "heads", "d_k"});
  f(before + "w_v", m.value.weight, {memory, "heads", "d_v"});
  f(before + "w_o", m.output.weight, {"heads", "d_v", "d_model"});
  f(before + "b_q", m.query.bias, {"heads", "d_k"});
  f(before + "b_k", m.key.bias, {"heads", "d_k"});
  f(before + "b_v", m.value.bias, {"heads", "d_v"});
  f(before + "b_o", m.output.bias, {"d_model"});
}
template <class M, class F>
void feed_forward_parameters(const std::string& before, M& m, const F& f) {
  f(before + "w_1", m.up.weight, {"d_model", "hidden"});
  f(before + "b_1", m.up.bias, {"hidden"});
  f(before + "w_2", m.down.weight, {"hidden", "d_model"});
  f(before + "b_2", m.down.bias, {"d_model"});
}
template <class M, class F>
void norm_parameters(const std::string& before, M& m, const F& f) {
  f(before + ".gamma", m.gamma, {"d_model"});
  f(before + ".beta", m.beta, {"d_model"});
}
template <class M, class F>
void encoder_parameters(const std::string& before, M& m, const F& f) {
  attention_parameters(before, m.attention, f);
  feed_forward_parameters(before, m.feed_forward, f);
  norm_parameters(before + "norm_1", m.norm1, f);
  norm_parameters(before + "norm_2", m.norm2, f);
}
template <class M, class F>
void decoder_parameters(const std::string& before, M& m, const F& f) {
  attention_parameters(before + "self.", m.attention, f);
  attention_parameters(before + "cross.", m.memory_attention, f);
  feed_forward_parameters(before, m.feed_forward, f);
  norm_parameters(before + "norm_1", m.norm1, f);
  norm_parameters(before + "norm_2", m.norm2, f);
  norm_parameters(before + "norm_3", m.norm3, f);
}

using dims_of_parameter = std::vector<std::string>;

// Parameters from the case, zeros where it has none.
template <class T>
struct load_parameters {
  const program<T>& p;
  std::string before = "";

  template <class... D>
  void operator()(const std::string& name, tensor<T, D...>& to, const dims_of_parameter& dims) const {
    std::array<group, sizeof...(D)> groups;
    for (std::size_t i = 0; i < dims.size(); ++i) { groups.at(i) = {dims[i]}; }
    if (p.has(before + name)) {
      to = p.template array_of<T>(named<D...>{before + name, groups});
    } else {
      std::size_t i = 0;
      const auto one = [&](const std::string& d) {
        return static_cast<std::ptrdiff_t>(p.has_dimension(d) ? p.extent(d) : 1);
      };
      to = tensor<T, D...>{D{one(dims[i++])}...};
    }
  }
};
// The gradients of parameters, or their values, compared with what the case expects.
template <class T>
struct compare_parameters {
  program<T>& p;
  std::string before = "";
  bool as_outputs = false;

  template <class... D>
  void operator()(const std::string& name, const tensor<T, D...>& x, const dims_of_parameter& dims) const {
    std::vector<group> groups;
    for (const std::string& d : dims) { groups.push_back({d}); }
    const std::vector<double> values(x.data(), x.data() + x.size());
    if (as_outputs && p.wants(before + name)) {
      p.compare_output(before + name, groups, values);
    } else if (!as_outputs && p.wants_gradient(before + name)) {
      p.compare_gradient(before + name, groups, values);
    }
  }
};

template <class T>
void read_settings(const program<T>& p) {
  said_activation::name = p.text("activation", "relu");
  said_order::norm_first = p.text("order") == "pre";
}
template <class Layer>
void set_epsilon(Layer& layer, double epsilon) {
  layer.norm1.epsilon = layer.norm2.epsilon = epsilon;
  if constexpr (requires { layer.norm3; }) { layer.norm3.epsilon = epsilon; }
}

/// Which keys a case hides from which queries; all are seen where it hides none.
template <class P, class K, class T>
tensor<bool, batch, P, K> seen_by(const program<T>& p, std::size_t rows, std::size_t columns, bool in_order,
                                  const std::vector<std::int64_t>& lengths) {
  const std::size_t sequences = p.extent("batch");
  tensor<bool, batch, P, K> all(batch{static_cast<std::ptrdiff_t>(sequences)}, P{static_cast<std::ptrdiff_t>(rows)},
                                K{static_cast<std::ptrdiff_t>(columns)});
  bool* to = all.overwrite();
  for (std::size_t b = 0; b < sequences; ++b) {
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < columns; ++j) {
        *to++ = (!in_order || j <= i) && (lengths.empty() || static_cast<std::int64_t>(j) < lengths.at(b));
      }
    }
  }
  return all;
}
template <class T>
std::vector<std::int64_t> lengths_of(const program<T>& p, const char* key = "padding") {
  if (!p.says(key)) { return {}; }
  const auto all = p.numbers_of(p.text(key));
  return {all.begin(), all.end()};
}

/// sin and cos of p / 10000^(2i/n), in turn (Vaswani et al. 2017, section 3.5), in the precision of the program.
template <class P, class T>
tensor<T, P, d_model> waves(std::size_t rows, std::size_t width) {
  tensor<T, P, d_model> all(P{static_cast<std::ptrdiff_t>(rows)}, d_model{static_cast<std::ptrdiff_t>(width)});
  T* to = all.overwrite();
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t f = 0; f < width; ++f) {
      const double pair = static_cast<double>(f / 2 * 2) / static_cast<double>(width);
      const double angle = static_cast<double>(i) / std::pow(10000.0, pair);
      *to++ = static_cast<T>(f % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }
  }
  return all;
}

}  // namespace conformance::gradients::layers

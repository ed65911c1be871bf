// tests/conformance/torch/modules.hpp -- parameters and masks as PyTorch stores them, as modules and masks of dimwise.
//
// Its weights are [out, in] with all heads in one axis; its masks of bool hide where true; a mask of floats is added.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "conformance/case.hpp"

#include <stdexcept>

namespace conformance::torch {

using namespace dimwise;

struct batch : batch_dim<> {};
struct seq : position_dim<> {};
struct key : prime<seq> {};
struct source : position_dim<> {};  // the positions of a memory
struct source_key : prime<source> {};
struct d_model : feature_dim<> {};
struct k_model : feature_dim<> {};  // the features that keys are projected from, where they differ
struct v_model : feature_dim<> {};
struct hidden : feature_dim<> {};
struct heads : heads_dim<> {};
struct d_k : divided<d_model, heads> {};
struct d_v : divided<d_model, heads> {};
struct role : choice_dim<3> {};  // query, key, value: the thirds of in_proj
struct vocab : choice_dim<> {};

// linear from one dimension to another, stored [Out, In].
template <class In, class Out, class Bias>
void load(run& r, const std::string& name, nn::linear<nn::from<In>, nn::to<Out>, Bias>& layer) {
  using side = nn::detail::output_side<Out, In>;
  layer.weight = r.get<float, side, In>(name + "weight");
  if constexpr (std::is_same_v<Bias, nn::with_bias>) { layer.bias = r.get<float, Out>(name + "bias"); }
}

inline void load(run& r, const std::string& name, nn::layer_norm<d_model>& norm) {
  norm.gamma = r.get<float, d_model>(name + "weight");
  norm.beta = r.get<float, d_model>(name + "bias");
  norm.epsilon = r.number("layer_norm_eps", 1e-5);
}

// nn.MultiheadAttention: in_proj holds queries, keys and values one after the other, or each has its own.
template <class... Options>
void load(run& r, const std::string& name, heads h,
          nn::multi_head_attention<d_model, heads, d_k, d_v, Options...>& attention) {
  using module = nn::multi_head_attention<d_model, heads, d_k, d_v, Options...>;
  if (r.has(name + "in_proj_weight")) {
    if constexpr (std::is_same_v<typename module::key_features, d_model> &&
                  std::is_same_v<typename module::value_features, d_model>) {
      const tensor all =
          split<role, heads, d_k>(r.get<float, merged<role, heads, d_k>, d_model>(name + "in_proj_weight", h));
      attention.query.weight = at<role>(all, 0);
      attention.key.weight = at<role>(all, 1);
      attention.value.weight = relabel<d_k, d_v>(at<role>(all, 2));
    }
  } else {
    attention.query.weight = split<heads, d_k>(r.get<float, merged<heads, d_k>, d_model>(name + "q_proj_weight", h));
    attention.key.weight =
        split<heads, d_k>(r.get<float, merged<heads, d_k>, typename module::key_features>(name + "k_proj_weight", h));
    attention.value.weight =
        split<heads, d_v>(r.get<float, merged<heads, d_v>, typename module::value_features>(name + "v_proj_weight", h));
  }
  attention.output.weight = split<heads, d_v>(r.get<float, d_model, merged<heads, d_v>>(name + "out_proj.weight", h));
  if constexpr (std::is_same_v<typename module::options::bias, nn::with_bias>) {
    const tensor all = split<role, heads, d_k>(r.get<float, merged<role, heads, d_k>>(name + "in_proj_bias", h));
    attention.query.bias = at<role>(all, 0);
    attention.key.bias = at<role>(all, 1);
    attention.value.bias = relabel<d_k, d_v>(at<role>(all, 2));
    attention.output.bias = r.get<float, d_model>(name + "out_proj.bias");
  }
  if constexpr (module::options::learned_key) {
    const auto vector = [&]<class F>(const char* which, F) {  // [1, 1, all heads]
      return tensor(
          split<heads, F>(at<source>(at<batch>(r.get<float, batch, source, merged<heads, F>>(name + which, h), 0), 0)));
    };
    attention.bias_k = vector("bias_k", d_k());
    attention.bias_v = vector("bias_v", d_v());
  }
}

template <class P, class K, class Attention>
void load(run& r, const std::string& name, heads h, nn::self_attention<P, K, Attention>& attention) {
  load(r, name, h, static_cast<Attention&>(attention));
}
template <class P, class K, class Attention>
void load(run& r, const std::string& name, heads h, nn::cross_attention<P, K, Attention>& attention) {
  load(r, name, h, static_cast<Attention&>(attention));
}
template <class Activation>
void load_feed_forward(run& r, const std::string& name, nn::feed_forward<d_model, hidden, Activation>& layer) {
  load(r, name + "linear1.", layer.up);
  load(r, name + "linear2.", layer.down);
}
template <class Own, class Activation, class Order>
void load(
    run& r, const std::string& name, heads h,
    nn::encoder_layer<Own, nn::feed_forward<d_model, hidden, Activation>, nn::layer_norm<d_model>, Order>& layer) {
  load(r, name + "self_attn.", h, layer.attention);
  load_feed_forward(r, name, layer.feed_forward);
  load(r, name + "norm1.", layer.norm1);
  load(r, name + "norm2.", layer.norm2);
}
template <class Own, class Memory, class Activation, class Order>
void load(run& r, const std::string& name, heads h,
          nn::decoder_layer<Own, Memory, nn::feed_forward<d_model, hidden, Activation>, nn::layer_norm<d_model>, Order>&
              layer) {
  load(r, name + "self_attn.", h, layer.attention);
  load(r, name + "multihead_attn.", h, layer.memory_attention);
  load_feed_forward(r, name, layer.feed_forward);
  load(r, name + "norm1.", layer.norm1);
  load(r, name + "norm2.", layer.norm2);
  load(r, name + "norm3.", layer.norm3);
}
inline void load(run&, const std::string&, nn::no_norm&) {}
template <class Layer, class Norm>
void load(run& r, const std::string& name, heads h, nn::stack<Layer, Norm>& all) {
  while (r.has(name + "layers." + std::to_string(all.layers.size()) + ".linear1.weight")) {
    Layer layer;
    load(r, name + "layers." + std::to_string(all.layers.size()) + ".", h, layer);
    all.layers.push_back(layer);
  }
  load(r, name + "norm.", all.norm);
}

// Calls f with what a case changes scores by: a mask over [Q, K] that hides where true or is added.
template <class Q, class K, class F, class... Before>
void with_mask(run& r, const std::string& mask, F f, const Before&... how) {
  if (!r.has(mask)) {
    f(how...);
  } else if (r.dtype(mask) == "bool") {
    f(how..., allow_of(block(r.get<bool, Q, K>(mask))));
  } else {
    f(how..., r.get<float, Q, K>(mask));
  }
}
// The same by [batch, K], the keys of each sequence.
template <class K, class F, class... Before>
void with_padding(run& r, const std::string& padding, F f, const Before&... how) {
  if (!r.has(padding)) {
    f(how...);
  } else {
    f(how..., allow_of(block(r.stretched<bool>(padding, batch{r.rank(padding) == 1 ? 1 : r.extent(padding, 0)},
                                               K{r.extent(padding, r.rank(padding) - 1)}))));
  }
}
template <class Q, class K, class F>
void with_masks(run& r, const std::string& mask, const std::string& padding, F f) {
  with_mask<Q, K>(r, mask, [&](const auto&... how) { with_padding<K>(r, padding, f, how...); });
}

// Calls f with the activation that a case names, as a value of its type.
template <class F>
void with_activation(run& r, F f) {
  const std::string name = r.text("activation", "relu");
  if (name == "relu") {
    f(nn::activation::relu{});
  } else if (name == "gelu" || name == "gelu (erf)") {
    f(nn::activation::gelu{});
  } else {
    throw std::runtime_error("activation " + name + " is unknown");
  }
}
template <class F>
void with_order(run& r, F f) {
  if (r.flag("norm_first", false)) {
    f(nn::pre_norm{});
  } else {
    f(nn::post_norm{});
  }
}

}  // namespace conformance::torch

// SPDX-License-Identifier: BSL-1.0
// dimwise/models/gpt2.hpp -- GPT-2 (Radford et al. 2019) with shapes as types, read from a HuggingFace folder.
//
// Layer: models.
// Tests: tests/models/decoders/gpt2.test.cpp, the conformance suite `lm`
//
//   const auto model = models::read_gpt2<models::gpt2_dims>("folder");       // config.json, model.safetensors
//   auto caches = model.start(1024);                                           // caches for this many positions
//   tensor logits = model.next(tokens, caches);                                 // logits of the next token
#pragma once

#include <dimwise/io/checkpoint.hpp>
#include <dimwise/io/config.hpp>
#include <dimwise/io/shards.hpp>
#include <dimwise/models/language_model.hpp>
#include <dimwise/nn/layers.hpp>

namespace dimwise::models {

/// The dimensions of a GPT-2 with extents from the configuration. Your own struct may make some or all of them static.
struct gpt2_dims {
  struct vocab : choice_dim<> {};
  struct seq : position_dim<> {};
  struct key : prime<seq> {};
  struct d_model : feature_dim<> {};
  struct heads : heads_dim<> {};
  struct d_k : feature_dim<> {};
  struct d_v : feature_dim<> {};
  struct hidden : feature_dim<> {};
};

/// Attention of GPT-2: new positions attend to themselves and to the cached positions.
template <class Dims, class Weights = float>
struct gpt2_attention {
  using seq = typename Dims::seq;
  using key_pos = typename Dims::key;
  using d_model = typename Dims::d_model;
  using heads = typename Dims::heads;
  using d_k = typename Dims::d_k;
  using d_v = typename Dims::d_v;
  using query_projection = nn::linear<nn::from<d_model>, nn::to<heads, d_k>, nn::with_bias, Weights>;
  using key_projection = nn::linear<nn::from<d_model>, nn::to<heads, d_k>, nn::with_bias, Weights>;
  using value_projection = nn::linear<nn::from<d_model>, nn::to<heads, d_v>, nn::with_bias, Weights>;
  using output_projection = nn::linear<nn::from<heads, d_v>, nn::to<d_model>, nn::with_bias, Weights>;
  using cache = nn::kv_cache<key_pos, nn::capacity<>, nn::keys<float, heads, key_pos, d_k>,
                             nn::values<float, heads, key_pos, d_v>>;

  query_projection query{};
  key_projection key{};
  value_projection value{};
  output_projection output{};
  using members =
      nn::member_list<&gpt2_attention::query, &gpt2_attention::key, &gpt2_attention::value, &gpt2_attention::output>;

  [[nodiscard]] tensor<float, seq, d_model> operator()(const tensor<float, seq, d_model>& x, cache& held) const {
    const tensor<float, seq, heads, d_k> q = query(x);
    held.append(rename<seq, key_pos>(key(x)), rename<seq, key_pos>(value(x)));
    return output(nn::attention<d_k, key_pos>(q, held.keys(), held.values(), causal<seq, key_pos>{}));
  }
  /// The attention weights of every head, without a cache.
  [[nodiscard]] tensor<float, heads, seq, key_pos, normalised<key_pos>> weights(
      const tensor<float, seq, d_model>& x) const {
    return nn::attention_weights<d_k, key_pos>(query(x), rename<seq, key_pos>(key(x)), causal<seq, key_pos>{});
  }
};

/// A layer of GPT-2: attention and feed-forward, each after a norm and with a residual.
template <class Dims, class Activation, class Weights = float>
struct gpt2_block {
  using seq = typename Dims::seq;
  using d_model = typename Dims::d_model;
  using attention_type = gpt2_attention<Dims, Weights>;
  using norm_type = nn::layer_norm<d_model>;
  using feed_type = nn::feed_forward<d_model, typename Dims::hidden, Activation, nn::with_bias, Weights>;
  using cache = typename attention_type::cache;

  norm_type norm1{};
  attention_type attention{};
  norm_type norm2{};
  feed_type feed_forward{};
  using members =
      nn::member_list<&gpt2_block::norm1, &gpt2_block::attention, &gpt2_block::norm2, &gpt2_block::feed_forward>;

  [[nodiscard]] tensor<float, seq, d_model> operator()(const tensor<float, seq, d_model>& x, cache& held) const {
    const tensor<float, seq, d_model> attended = x + attention(norm1(x), held);
    return attended + feed_forward(norm2(attended));
  }
  /// The attention weights of every head, without a cache.
  [[nodiscard]] auto weights(const tensor<float, seq, d_model>& x) const { return attention.weights(norm1(x)); }
};

/// GPT-2. Output is `tied` to the token embedding or has its `own` weight; Activation is the activation of the
/// feed-forward layers. Weights is the format of the weights and the embedding (nn/weight.hpp); norms, biases and
/// positions are floats.
template <class Dims, class Output = tied, class Activation = nn::activation::gelu_tanh, class Weights = float>
struct gpt2 : language_model<gpt2<Dims, Output, Activation, Weights>, Dims, gpt2_block<Dims, Activation, Weights>> {
  using vocab = typename Dims::vocab;
  using seq = typename Dims::seq;
  using d_model = typename Dims::d_model;
  using block = gpt2_block<Dims, Activation, Weights>;
  using token_embedding_type = nn::embedding<vocab, d_model, Weights>;
  using positions_type = nn::learned_positions<seq, d_model>;
  using block_list = std::vector<block>;
  using norm_type = nn::layer_norm<d_model>;
  using output_type = output_layer<Output, vocab, d_model, Weights>;

  token_embedding_type token_embedding{};
  positions_type positions{};
  block_list blocks{};
  norm_type norm{};
  output_type output{};
  using members = nn::member_list<&gpt2::token_embedding, &gpt2::positions, &gpt2::blocks, &gpt2::norm, &gpt2::output>;

  /// The sum of token and position embeddings.
  [[nodiscard]] tensor<float, seq, d_model> embedded(const tensor<id<vocab>, seq>& text) const {
    return positions(token_embedding(text));
  }
  /// The maximum number of positions.
  [[nodiscard]] std::size_t longest() const { return extent_of<seq>(positions.table); }
  /// An empty cache of one block for `length` tokens.
  [[nodiscard]] typename block::cache cache_for(std::size_t length) const {
    const auto& attention = blocks.front().attention;
    return make_cache<typename block::cache>(
        typename Dims::key{length}, extent_in<typename Dims::heads>(attention.query.weight),
        extent_in<typename Dims::d_k>(attention.query.weight), extent_in<typename Dims::d_v>(attention.value.weight));
  }
};

/// Binds the parameters to the arrays of a file, with HuggingFace's names of `GPT2LMHeadModel`.
template <class Dims, class Output, class Activation, class Weights>
void bind_gpt2(io::bindings& file, gpt2<Dims, Output, Activation, Weights>& m) {
  using namespace io;
  file.may_begin_with("transformer.");
  file.bind<stored<typename Dims::vocab, typename Dims::d_model>>("wte.weight", m.token_embedding.table);
  file.bind<stored<typename Dims::seq, typename Dims::d_model>>("wpe.weight", m.positions.table);
  for (std::size_t i = 0; i < m.blocks.size(); ++i) {
    auto& block = m.blocks[i];
    const auto names = file.in("h." + std::to_string(i) + ".");
    names.norm("ln_1", block.norm1);
    names.template fused<thirds, in_out>("attn.c_attn", block.attention.query, block.attention.key,
                                         block.attention.value);
    names.template linear<in_out>("attn.c_proj", block.attention.output);
    names.norm("ln_2", block.norm2);
    names.template linear<in_out>("mlp.c_fc", block.feed_forward.up);
    names.template linear<in_out>("mlp.c_proj", block.feed_forward.down);
    names.ignore("attn.bias");  // the causal mask in old files
    names.ignore("attn.masked_bias");
  }
  file.norm("ln_f", m.norm);
  bind_output(file, m.output, "lm_head.weight", "wte.weight");
}

/// Reads a HuggingFace folder: `config.json`, and `model.safetensors` or its shards. Throws `file_error` that lists
/// every mismatch between the folder and the types.
template <class Dims = gpt2_dims, class Output = tied, class Activation = nn::activation::gelu_tanh,
          class Weights = float>
[[nodiscard]] gpt2<Dims, Output, Activation, Weights> read_gpt2(const io::config_check& settings,
                                                                const io::archive& weights) {
  io::config_check config = settings;
  config.expect_word("model_type", {"gpt2"});
  const auto vocab = config.extent<typename Dims::vocab>("vocab_size");
  const auto seq = config.extent<typename Dims::seq>("n_positions");
  const auto d_model = config.extent<typename Dims::d_model>("n_embd");
  const auto heads = config.extent<typename Dims::heads>("n_head");
  const std::size_t of_head = head_extent(config, d_model.extent(), heads.extent());
  const auto d_k = config.implied<typename Dims::d_k>("n_embd / n_head", of_head);
  const auto d_v = config.implied<typename Dims::d_v>("n_embd / n_head", of_head);
  const auto hidden = config.extent<typename Dims::hidden>("n_inner", 4 * d_model.extent());
  const std::size_t layers = layer_count(config, "n_layer", weights, 12);
  const double epsilon = config.number("layer_norm_epsilon", 1e-5, io::number_range::from_zero);
  expect_activation<Activation>(config, "activation_function", "gelu_new");
  expect_output<Output>(config, true);
  config.expect_flag("scale_attn_weights", true, true);
  config.expect_flag("scale_attn_by_inverse_layer_idx", false, false);
  config.expect_flag("add_cross_attention", false, false);
  config.finish();

  gpt2<Dims, Output, Activation, Weights> m;
  m.blocks.resize(layers);
  io::bindings file(vocab, seq, d_model, heads, d_k, d_v, hidden);
  bind_gpt2(file, m);
  io::load(m, weights, file, weights_rounding<Weights>);
  for (auto& block : m.blocks) { block.norm1.epsilon = block.norm2.epsilon = epsilon; }
  m.norm.epsilon = epsilon;
  return m;
}
template <class Dims = gpt2_dims, class Output = tied, class Activation = nn::activation::gelu_tanh,
          class Weights = float>
[[nodiscard]] gpt2<Dims, Output, Activation, Weights> read_gpt2(const std::filesystem::path& folder) {
  return read_gpt2<Dims, Output, Activation, Weights>(io::config_check(folder / "config.json"),
                                                      io::read_checkpoint(folder));
}

}  // namespace dimwise::models

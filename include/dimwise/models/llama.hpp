// SPDX-License-Identifier: BSL-1.0
// dimwise/models/llama.hpp -- LLaMA (Touvron et al. 2023) with shapes as types, read from a HuggingFace folder.
//
// Layer: models. RMS norms, rotary positions, grouped-query attention, gated feed-forward.
// Tests: tests/models/decoders/llama.test.cpp, the conformance suite `lm`
//
//   const auto model = models::read_llama<models::llama_dims, models::own>("folder");
//   auto caches = model.start(2048);
//   tensor logits = model.next(tokens, caches);                                  // logits of the next token
#pragma once

#include <dimwise/io/checkpoint.hpp>
#include <dimwise/io/config.hpp>
#include <dimwise/io/shards.hpp>
#include <dimwise/models/common/rotary.hpp>
#include <dimwise/models/language_model.hpp>
#include <dimwise/nn/layers.hpp>

namespace dimwise::models {

/// The dimensions of a LLaMA with extents from the configuration. Your own struct may make some or all of them static.
struct llama_dims {
  struct vocab : choice_dim<> {};
  struct seq : position_dim<> {};
  struct key : prime<seq> {};
  struct d_model : feature_dim<> {};
  struct kv_heads : heads_dim<> {};  // heads of keys and values
  struct group : heads_dim<> {};     // query heads per key head
  struct d_k : feature_dim<> {};
  struct d_v : feature_dim<> {};
  struct hidden : feature_dim<> {};
};

/// Attention of LLaMA: rotates queries and keys by their positions; the cache stores rotated keys.
template <class Dims, class Bias, class Weights = float>
struct llama_attention {
  using seq = typename Dims::seq;
  using key_pos = typename Dims::key;
  using d_model = typename Dims::d_model;
  using kv_heads = typename Dims::kv_heads;
  using group = typename Dims::group;
  using d_k = typename Dims::d_k;
  using d_v = typename Dims::d_v;
  using query_projection = nn::linear<nn::from<d_model>, nn::to<kv_heads, group, d_k>, Bias, Weights>;
  using key_projection = nn::linear<nn::from<d_model>, nn::to<kv_heads, d_k>, Bias, Weights>;
  using value_projection = nn::linear<nn::from<d_model>, nn::to<kv_heads, d_v>, Bias, Weights>;
  using output_projection = nn::linear<nn::from<kv_heads, group, d_v>, nn::to<d_model>, Bias, Weights>;
  using cache = nn::kv_cache<key_pos, nn::capacity<>, nn::keys<float, kv_heads, key_pos, d_k, rotated<d_k, seq>>,
                             nn::values<float, kv_heads, key_pos, d_v>>;

  query_projection query{};
  key_projection key{};
  value_projection value{};
  output_projection output{};
  using members = nn::member_list<&llama_attention::query, &llama_attention::key, &llama_attention::value,
                                  &llama_attention::output>;
  rotary_options rotation;

  [[nodiscard]] tensor<float, seq, d_model> operator()(const tensor<float, seq, d_model>& x, cache& held) const {
    held.append(keys(x), rename<seq, key_pos>(value(x)));
    return output(nn::attention<d_k, key_pos>(queries(x), held.keys(), held.values(), causal<seq, key_pos>{}));
  }
  /// The attention weights of every head, without a cache.
  [[nodiscard]] tensor<float, kv_heads, group, seq, key_pos, normalised<key_pos>> weights(
      const tensor<float, seq, d_model>& x) const {
    return nn::attention_weights<d_k, key_pos>(queries(x), keys(x), causal<seq, key_pos>{});
  }

 private:
  [[nodiscard]] tensor<float, seq, kv_heads, group, d_k, rotated<d_k, seq>> queries(
      const tensor<float, seq, d_model>& x) const {
    return rotary<seq, d_k>(query(x), rotation);
  }
  [[nodiscard]] tensor<float, key_pos, kv_heads, d_k, rotated<d_k, seq>> keys(
      const tensor<float, seq, d_model>& x) const {
    return rotary<key_pos, d_k>(rename<seq, key_pos>(key(x)), rotation);
  }
};

/// A layer of LLaMA: attention and gated feed-forward, each after a norm and with a residual.
template <class Dims, class Activation, class AttentionBias, class FeedBias, class Weights = float>
struct llama_block {
  using seq = typename Dims::seq;
  using d_model = typename Dims::d_model;
  using attention_type = llama_attention<Dims, AttentionBias, Weights>;
  using norm_type = nn::rms_norm<d_model>;
  using feed_type = nn::gated_feed_forward<d_model, typename Dims::hidden, Activation, FeedBias, Weights>;
  using cache = typename attention_type::cache;

  norm_type norm1{};
  attention_type attention{};
  norm_type norm2{};
  feed_type feed_forward{};
  using members =
      nn::member_list<&llama_block::norm1, &llama_block::attention, &llama_block::norm2, &llama_block::feed_forward>;

  [[nodiscard]] tensor<float, seq, d_model> operator()(const tensor<float, seq, d_model>& x, cache& held) const {
    const tensor<float, seq, d_model> attended = x + attention(norm1(x), held);
    return attended + feed_forward(norm2(attended));
  }
  /// The attention weights of every head, without a cache.
  [[nodiscard]] auto weights(const tensor<float, seq, d_model>& x) const { return attention.weights(norm1(x)); }
};

/// LLaMA. Output is `tied` to the token embedding or has its `own` weight; the biases are `nn::no_bias` or
/// `nn::with_bias`. Weights is the format of the weights and the embedding (nn/weight.hpp); norms and biases are
/// floats.
template <class Dims, class Output = own, class AttentionBias = nn::no_bias, class FeedBias = nn::no_bias,
          class Activation = nn::activation::silu, class Weights = float>
struct llama : language_model<llama<Dims, Output, AttentionBias, FeedBias, Activation, Weights>, Dims,
                              llama_block<Dims, Activation, AttentionBias, FeedBias, Weights>> {
  using dims = Dims;
  using output_kind = Output;
  using attention_bias = AttentionBias;
  using feed_bias = FeedBias;
  using activation = Activation;
  using weights = Weights;
  using vocab = typename Dims::vocab;
  using seq = typename Dims::seq;
  using d_model = typename Dims::d_model;
  using block = llama_block<Dims, Activation, AttentionBias, FeedBias, Weights>;
  using token_embedding_type = nn::embedding<vocab, d_model, Weights>;
  using block_list = std::vector<block>;
  using norm_type = nn::rms_norm<d_model>;
  using output_type = output_layer<Output, vocab, d_model, Weights>;

  token_embedding_type token_embedding{};
  block_list blocks{};
  norm_type norm{};
  output_type output{};
  using members = nn::member_list<&llama::token_embedding, &llama::blocks, &llama::norm, &llama::output>;
  /// max_position_embeddings: the model was not trained on longer texts.
  std::size_t longest_text = 0;

  /// The token embeddings: [seq]  ->  [seq, d_model].
  [[nodiscard]] tensor<float, seq, d_model> embedded(const tensor<id<vocab>, seq>& text) const {
    return token_embedding(text);
  }
  /// The maximum number of positions in training.
  [[nodiscard]] std::size_t longest() const { return longest_text; }
  /// An empty cache of one block for `length` tokens.
  [[nodiscard]] typename block::cache cache_for(std::size_t length) const {
    const auto& attention = blocks.front().attention;
    return make_cache<typename block::cache>(
        typename Dims::key{length}, extent_in<typename Dims::kv_heads>(attention.key.weight),
        extent_in<typename Dims::d_k>(attention.key.weight), extent_in<typename Dims::d_v>(attention.value.weight));
  }
};

/// Binds the parameters to the arrays of a file, with HuggingFace's names of `LlamaForCausalLM`. Rotary is the order of
/// a head's features in the file: `io::halves` (HuggingFace), or `io::pairs` (the original); the model uses halves.
template <class Rotary = io::halves, class Model>
void bind_llama(io::bindings& file, Model& m) {
  using namespace io;
  using Dims = typename Model::dims;
  using d_k = typename Dims::d_k;
  static_assert(std::is_same_v<Rotary, halves> || std::is_same_v<Rotary, pairs>,
                "dimwise: features of a head are stored in io::halves or in io::pairs");
  using turned = std::conditional_t<std::is_same_v<Rotary, pairs>, pairs_as_halves<d_k>, d_k>;
  file.bind<stored<typename Dims::vocab, typename Dims::d_model>>("model.embed_tokens.weight", m.token_embedding.table);
  for (std::size_t i = 0; i < m.blocks.size(); ++i) {
    auto& block = m.blocks[i];
    const auto names = file.in("model.layers." + std::to_string(i) + ".");
    names.norm("input_layernorm", block.norm1);
    names.template linear<out_in, turned>("self_attn.q_proj", block.attention.query);
    names.template linear<out_in, turned>("self_attn.k_proj", block.attention.key);
    names.template linear<out_in>("self_attn.v_proj", block.attention.value);
    names.template linear<out_in>("self_attn.o_proj", block.attention.output);
    names.ignore("self_attn.rotary_emb.inv_freq");  // in old files
    names.norm("post_attention_layernorm", block.norm2);
    names.template linear<out_in>("mlp.gate_proj", block.feed_forward.gate);
    names.template linear<out_in>("mlp.up_proj", block.feed_forward.up);
    names.template linear<out_in>("mlp.down_proj", block.feed_forward.down);
  }
  file.norm("model.norm", m.norm);
  bind_output(file, m.output, "lm_head.weight", "model.embed_tokens.weight");
}

/// Builds a model from settings and arrays. Throws `file_error` that lists every mismatch with the types.
template <class Model, class Rotary = io::halves>
[[nodiscard]] Model read_llama_as(const io::config_check& settings, const io::archive& weights) {
  using Dims = typename Model::dims;
  io::config_check config = settings;
  config.expect_word("model_type", {"llama"});
  const auto vocab = config.extent<typename Dims::vocab>("vocab_size");
  const auto d_model = config.extent<typename Dims::d_model>("hidden_size");
  const std::size_t queries = config.count("num_attention_heads");
  const auto kv_heads = config.extent<typename Dims::kv_heads>("num_key_value_heads", queries);
  if (queries % kv_heads.extent() != 0) {
    config.differs(std::to_string(queries) + " query heads are not divisible by " + std::to_string(kv_heads.extent()) +
                   " key heads");
  }
  const auto group = config.implied<typename Dims::group>("num_attention_heads / num_key_value_heads",
                                                          std::max<std::size_t>(queries / kv_heads.extent(), 1));
  const std::size_t of_head =
      config.has("head_dim") ? config.count("head_dim") : head_extent(config, d_model.extent(), queries);
  if (of_head % 2 != 0) {
    config.differs("the heads have " + std::to_string(of_head) +
                   " features, an even number was expected for rotary pairs");
  }
  const auto d_k = config.implied<typename Dims::d_k>("head_dim", of_head);
  const auto d_v = config.implied<typename Dims::d_v>("head_dim", of_head);
  const auto hidden = config.extent<typename Dims::hidden>("intermediate_size");
  const std::size_t layers = layer_count(config, "num_hidden_layers", weights, 9);
  const double epsilon = config.number("rms_norm_eps", 1e-6, io::number_range::from_zero);
  const rotary_options rotation = rotary_of(config);
  expect_activation<typename Model::activation>(config, "hidden_act", "silu");
  expect_output<typename Model::output_kind>(config, false);
  config.expect_flag("attention_bias", !std::is_same_v<typename Model::attention_bias, nn::no_bias>, false);
  config.expect_flag("mlp_bias", !std::is_same_v<typename Model::feed_bias, nn::no_bias>, false);
  config.finish();

  Model m;
  m.blocks.resize(layers);
  m.longest_text = config.count("max_position_embeddings", 2048);
  io::bindings file(vocab, d_model, kv_heads, group, d_k, d_v, hidden);
  bind_llama<Rotary>(file, m);
  io::load(m, weights, file, weights_rounding<typename Model::weights>);
  for (auto& block : m.blocks) {
    block.norm1.epsilon = block.norm2.epsilon = epsilon;
    block.attention.rotation = rotation;
  }
  m.norm.epsilon = epsilon;
  return m;
}
/// Reads a HuggingFace folder: `config.json`, and `model.safetensors` or its shards. Throws `file_error` that lists
/// every mismatch between the folder and the types.
template <class Dims = llama_dims, class Output = own, class AttentionBias = nn::no_bias, class FeedBias = nn::no_bias,
          class Activation = nn::activation::silu, class Weights = float>
[[nodiscard]] auto read_llama(const std::filesystem::path& folder) {
  return read_llama_as<llama<Dims, Output, AttentionBias, FeedBias, Activation, Weights>>(
      io::config_check(folder / "config.json"), io::read_checkpoint(folder));
}

}  // namespace dimwise::models

// SPDX-License-Identifier: BSL-1.0
// dimwise/models/bert.hpp -- BERT (Devlin et al. 2019) with pooling and shapes as types, read from a HuggingFace
// folder.
//
// Layer: models. Encodes single texts, or batches of texts of different lengths with masked padding.
// Tests: tests/models/encoders/bert.test.cpp
//
//   const auto model = models::read_bert<models::bert_dims, models::mean_pooling>("folder");
//   tensor vector = model.embedded(tokens);                       // d_model, of length 1
#pragma once

#include <dimwise/io/checkpoint.hpp>
#include <dimwise/io/shards.hpp>
#include <dimwise/models/language_model.hpp>
#include <dimwise/models/pooling.hpp>
#include <dimwise/nn/layers.hpp>

namespace dimwise::models {

/// The dimensions of a BERT with extents from the configuration. Your own struct may make some or all of them static.
struct bert_dims {
  struct vocab : choice_dim<> {};
  struct segments : choice_dim<> {};  // the two texts of a pair
  struct batch : batch_dim<> {};
  struct seq : position_dim<> {};
  struct key : prime<seq> {};
  struct d_model : feature_dim<> {};
  struct heads : heads_dim<> {};
  struct d_k : feature_dim<> {};
  struct d_v : feature_dim<> {};
  struct hidden : feature_dim<> {};
};

/// The parameters of a pooling; only `mapped_pooling` has any.
template <class Pooling, class Model>
struct pooling_layer {
  using members = nn::member_list<>;
  static_assert(detail::is_pooling<Pooling>, "dimwise: a pooling is one of the types of models/pooling.hpp");
  /// Binds the parameters to arrays of a file.
  void bind(io::bindings& file) { file.ignore_all("pooler."); }
  /// The text vector from the vector of the first token.
  template <operand X>
  [[nodiscard]] auto of_first(const X& x) const {
    return x;
  }
};
template <class Model>
struct pooling_layer<mapped_pooling, Model> {
  using map_type = nn::linear<nn::from<Model>, nn::to<Model>>;
  map_type map{};
  using members = nn::member_list<&pooling_layer::map>;
  /// Binds the parameters to arrays of a file.
  void bind(io::bindings& file) { file.template linear<io::out_in>("pooler.dense", map); }
  /// The text vector from the vector of the first token.
  template <operand X>
  [[nodiscard]] auto of_first(const X& x) const {
    return tanh(map(x));
  }
};

/// BERT. Activation is the activation of the feed-forward layers. Weights is the format of the layers' weights and the
/// token embedding (nn/weight.hpp); other parameters are floats.
template <class Dims, class Pooling = mean_pooling, class Activation = nn::activation::gelu, class Weights = float>
struct bert {
  using dims = Dims;
  using activation = Activation;
  using weights = Weights;
  using vocab = typename Dims::vocab;
  using segments = typename Dims::segments;
  using batch = typename Dims::batch;
  using seq = typename Dims::seq;
  using key = typename Dims::key;
  using d_model = typename Dims::d_model;
  using token = id<vocab>;
  using word [[deprecated("use token")]] = token;
  using attention_type = nn::multi_head_attention<d_model, typename Dims::heads, typename Dims::d_k, typename Dims::d_v,
                                                  nn::elements<Weights>>;
  using feed_type = nn::feed_forward<d_model, typename Dims::hidden, Activation, nn::with_bias, Weights>;
  using norm_type = nn::layer_norm<d_model>;
  using layer = nn::encoder_layer<nn::self_attention<seq, key, attention_type>, feed_type, norm_type>;  // post_norm
  using token_embedding_type = nn::embedding<vocab, d_model, Weights>;
  using segments_type = nn::embedding<segments, d_model>;
  using positions_type = nn::learned_positions<seq, d_model>;
  using stack_type = nn::stack<layer>;
  using pooling_type = pooling_layer<Pooling, d_model>;
  using vector_type = tensor<float, d_model>;
  using vectors_type = tensor<float, batch, d_model>;

  token_embedding_type token_embedding{};
  segments_type segment_table{};
  positions_type positions{};
  norm_type norm{};
  stack_type layers{};
  pooling_type pooling{};
  using members = nn::member_list<&bert::token_embedding, &bert::segment_table, &bert::positions, &bert::norm,
                                  &bert::layers, &bert::pooling>;

  /// The maximum number of positions.
  [[nodiscard]] std::size_t longest() const { return extent_of<seq>(positions.table); }

  /// The features of every token of a text; `parts` selects for each token one of two texts.
  [[nodiscard]] tensor<float, seq, d_model> features(const tensor<token, seq>& text) const {
    return layers(begun(text, first_segment()));
  }
  [[nodiscard]] tensor<float, seq, d_model> features(const tensor<token, seq>& text,
                                                     const tensor<id<segments>, seq>& parts) const {
    return layers(begun(text, segment_table(parts)));
  }
  /// The features of several texts; positions after the length of a text are masked.
  [[nodiscard]] tensor<float, batch, seq, d_model> features(const tensor<token, batch, seq>& texts,
                                                            const tensor<int, batch>& lengths) const {
    return layers(begun(texts, first_segment()), padding<key>(lengths));
  }

  /// The vector of a text without its first `left_out` tokens. Poolings of the first token ignore `left_out`.
  [[nodiscard]] vector_type pooled(const tensor<float, seq, d_model>& x, std::size_t left_out = 0) const {
    if constexpr (detail::takes_first<Pooling>) {
      return pooling.of_first(at<seq>(x, 0));
    } else {
      const auto n = extent_in<seq>(x);
      tensor<float, seq> counts(n);
      detail::write_token_weights<Pooling>(counts.overwrite(), left_out, n.extent(), n.extent());
      if constexpr (std::is_same_v<Pooling, max_pooling>) {
        return max<seq>(x + counts);
      } else {
        return sum<seq>(x * counts);
      }
    }
  }
  [[nodiscard]] vectors_type pooled(const tensor<float, batch, seq, d_model>& x, const tensor<int, batch>& lengths,
                                    std::size_t left_out = 0) const {
    if constexpr (detail::takes_first<Pooling>) {
      detail::check_lengths("pooled", lengths.values(), extent_of<batch>(x), extent_of<seq>(x));
      return pooling.of_first(at<seq>(x, 0));
    } else {
      return detail::pooled_texts(x, lengths, std::is_same_v<Pooling, max_pooling>,
                                  [left_out](float* to, std::size_t end, std::size_t all) {
        detail::write_token_weights<Pooling>(to, left_out, end, all);
      });
    }
  }

  /// The vector of a text with length 1: the dot product of two vectors is their cosine similarity. The pooling skips
  /// the first `left_out` tokens, for example a prompt. Throws `number_error` for a vector without a direction: zeros,
  /// infinities, NaN, or elements whose squares overflow.
  [[nodiscard]] vector_type embedded(std::span<const token> text, std::size_t left_out = 0) const {
    check_words(text.size(), 0);
    return detail::of_length_one<d_model>(pooled(features(tensor<token, seq>(text, seq{text.size()})), left_out));
  }
  /// The vectors of several texts, encoded as one batch. Throws `extent_error` for a text without tokens, whose vector
  /// has no direction.
  [[nodiscard]] vectors_type embedded(std::span<const std::vector<token>> texts, std::size_t left_out = 0) const {
    std::size_t most = 0;
    tensor<int, batch> lengths(batch{texts.size()});
    for (std::size_t i = 0; i < texts.size(); ++i) {
      check_words(texts[i].size(), i);
      most = std::max(most, texts[i].size());
      lengths.overwrite()[i] = static_cast<int>(texts[i].size());
    }
    tensor<token, batch, seq> padded(batch{texts.size()}, seq{most});
    token* to = padded.overwrite();
    for (const auto& text : texts) {
      std::copy(text.begin(), text.end(), to);
      to += most;
    }
    return detail::of_length_one<d_model>(pooled(features(padded, lengths), lengths, left_out));
  }

 private:
  [[nodiscard]] vector_type first_segment() const { return at<segments>(segment_table.table, 0); }
  template <class Text, class Parts>
  [[nodiscard]] auto begun(const Text& text, const Parts& parts) const {
    return norm(positions(token_embedding(text)) + parts);
  }
  static void check_words(std::size_t count, std::size_t number) {
    if (count == 0) {
      dimwise::detail::raise<extent_error>(error{} << "embedded: text " << number
                                                   << " has no tokens, and no vector of length 1");
    }
  }
};

/// Binds the parameters to the arrays of a file, with HuggingFace's names of `BertModel`. Ignores the task heads of
/// training.
template <class Dims, class Pooling, class Activation, class Weights>
void bind_bert(io::bindings& file, bert<Dims, Pooling, Activation, Weights>& m) {
  using namespace io;
  using d_model = typename Dims::d_model;
  file.may_begin_with("bert.");
  const auto first = file.in("embeddings.");
  first.template bind<stored<typename Dims::vocab, d_model>>("word_embeddings.weight", m.token_embedding.table);
  first.template bind<stored<typename Dims::seq, d_model>>("position_embeddings.weight", m.positions.table);
  first.template bind<stored<typename Dims::segments, d_model>>("token_type_embeddings.weight", m.segment_table.table);
  first.norm("LayerNorm", m.norm);
  first.ignore("position_ids");
  for (std::size_t i = 0; i < m.layers.layers.size(); ++i) {
    auto& layer = m.layers.layers[i];
    const auto names = file.in("encoder.layer." + std::to_string(i) + ".");
    names.template linear<out_in>("attention.self.query", layer.attention.query);
    names.template linear<out_in>("attention.self.key", layer.attention.key);
    names.template linear<out_in>("attention.self.value", layer.attention.value);
    names.template linear<out_in>("attention.output.dense", layer.attention.output);
    names.norm("attention.output.LayerNorm", layer.norm1);
    names.template linear<out_in>("intermediate.dense", layer.feed_forward.up);
    names.template linear<out_in>("output.dense", layer.feed_forward.down);
    names.norm("output.LayerNorm", layer.norm2);
  }
  m.pooling.bind(file);
  file.ignore_all("cls.");
}

/// Reads a HuggingFace folder: `config.json`, and `model.safetensors` or its shards. Throws `file_error` that lists
/// every mismatch between the folder and the types.
template <class Dims = bert_dims, class Pooling = mean_pooling, class Activation = nn::activation::gelu,
          class Weights = float>
[[nodiscard]] bert<Dims, Pooling, Activation, Weights> read_bert(const io::config_check& settings,
                                                                 const io::archive& weights) {
  io::config_check config = settings;
  config.expect_word("model_type", {"bert"});
  const auto vocab = config.extent<typename Dims::vocab>("vocab_size");
  const auto segments = config.extent<typename Dims::segments>("type_vocab_size", 2);
  const auto seq = config.extent<typename Dims::seq>("max_position_embeddings");
  const auto d_model = config.extent<typename Dims::d_model>("hidden_size");
  const auto heads = config.extent<typename Dims::heads>("num_attention_heads");
  const std::size_t of_head = head_extent(config, d_model.extent(), heads.extent());
  const auto d_k = config.implied<typename Dims::d_k>("hidden_size / num_attention_heads", of_head);
  const auto d_v = config.implied<typename Dims::d_v>("hidden_size / num_attention_heads", of_head);
  const auto hidden = config.extent<typename Dims::hidden>("intermediate_size");
  const std::size_t layers = layer_count(config, "num_hidden_layers", weights, 16);
  const double epsilon = config.number("layer_norm_eps", 1e-12, io::number_range::from_zero);
  expect_activation<Activation>(config, "hidden_act", "gelu");
  config.expect_word("position_embedding_type", {"absolute"}, "absolute");
  config.expect_flag("is_decoder", false, false);
  config.expect_flag("add_cross_attention", false, false);
  config.finish();

  bert<Dims, Pooling, Activation, Weights> m;
  m.layers = nn::stack<typename bert<Dims, Pooling, Activation, Weights>::layer>::of(layers);
  io::bindings file(vocab, segments, seq, d_model, heads, d_k, d_v, hidden);
  bind_bert(file, m);
  io::load(m, weights, file, weights_rounding<Weights>);
  for (auto& layer : m.layers.layers) { layer.norm1.epsilon = layer.norm2.epsilon = epsilon; }
  m.norm.epsilon = epsilon;
  return m;
}
template <class Dims = bert_dims, class Pooling = mean_pooling, class Activation = nn::activation::gelu,
          class Weights = float>
[[nodiscard]] bert<Dims, Pooling, Activation, Weights> read_bert(const std::filesystem::path& folder) {
  return read_bert<Dims, Pooling, Activation, Weights>(io::config_check(folder / "config.json"),
                                                       io::read_checkpoint(folder));
}

}  // namespace dimwise::models

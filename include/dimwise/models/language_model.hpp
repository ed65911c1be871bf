// SPDX-License-Identifier: BSL-1.0
// dimwise/models/language_model.hpp -- the common part of language models: tokens, one KV cache per layer, logits, and
// greedy decoding.
//
// Layer: models.
// Tests: tests/models/decoders/gpt2.test.cpp, tests/models/decoders/llama.test.cpp
#pragma once

#include <dimwise/eval/sorting/top_k.hpp>
#include <dimwise/io/bindings.hpp>
#include <dimwise/io/config.hpp>
#include <dimwise/models/common/run_time_extents.hpp>
#include <dimwise/nn/cache.hpp>
#include <dimwise/nn/layers/embedding.hpp>
#include <dimwise/nn/layers/feed_forward.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dimwise::models {

/// Whether the output layer shares the table of the token embedding, or has its own weight.
struct tied {};
struct own {};

/// The output layer: `own` has a weight, `tied` has no parameters.
template <class Output, class Vocab, class Model, class Weights = float>
struct output_layer;
template <class Vocab, class Model, class Weights>
struct output_layer<own, Vocab, Model, Weights> {
  using map_type = nn::linear<nn::from<Model>, nn::to<Vocab>, nn::no_bias, Weights>;
  map_type map{};
  using members = nn::member_list<&output_layer::map>;
  template <class TokenEmbedding, operand X>
  [[nodiscard]] auto operator()(const TokenEmbedding&, const X& x) const {
    return map(x);
  }
};
template <class Vocab, class Model, class Weights>
struct output_layer<tied, Vocab, Model, Weights> {
  template <class TokenEmbedding, operand X>
  [[nodiscard]] auto operator()(const TokenEmbedding& embedding, const X& x) const {
    return embedding.logits(x);
  }
};

/// Binds an `own` output layer to `name`. This name has no prefix, even in files that prefix the others: it lies
/// outside the model. A file may also contain the array of a tied output.
template <class Vocab, class Model, class Weights>
void bind_output(io::bindings& file, output_layer<own, Vocab, Model, Weights>& to, const std::string& name,
                 const std::string&) {
  file.without_prefix().template bind<io::stored<Vocab, Model>>(name, to.map.weight);
}
template <class Vocab, class Model, class Weights>
void bind_output(io::bindings& file, output_layer<tied, Vocab, Model, Weights>&, const std::string& name,
                 const std::string& tokens) {
  file.same(name, tokens);
}

/// Rounding is allowed if the type of the weights has lower precision than the file.
template <class Weights>
inline constexpr io::rounding weights_rounding = real_element<Weights> ? io::rounding::refused : io::rounding::allowed;
/// The extent of D in a weight of any format.
template <class D, class Weight>
[[nodiscard]] D extent_in(const Weight& w) {
  return D{w.extents().template extent<D>()};
}

/// Checks that the settings tie the output as Output does; `otherwise` is the default of missing settings.
template <class Output>
void expect_output(io::config_check& config, bool otherwise) {
  config.expect_flag("tie_word_embeddings", std::is_same_v<Output, tied>, otherwise);
}

/// The names of an activation in configurations; empty for unknown activations.
template <class Activation>
inline constexpr std::array<std::string_view, 0> activation_names{};
template <>
inline constexpr std::array<std::string_view, 3> activation_names<nn::activation::gelu_tanh>{
    "gelu_new", "gelu_pytorch_tanh", "gelu_fast"};
template <>
inline constexpr std::array<std::string_view, 1> activation_names<nn::activation::gelu>{"gelu"};
template <>
inline constexpr std::array<std::string_view, 2> activation_names<nn::activation::silu>{"silu", "swish"};
template <>
inline constexpr std::array<std::string_view, 1> activation_names<nn::activation::relu>{"relu"};
/// Whether `name` is a configuration's name of this activation.
template <class Activation>
[[nodiscard]] bool is_activation(std::string_view name) {
  const auto& all = activation_names<Activation>;
  return std::find(all.begin(), all.end(), name) != all.end();
}
template <class Activation>
void expect_activation(io::config_check& config, const std::string& key, const std::string& otherwise) {
  static_assert(activation_names<Activation>.size() > 0, "dimwise: configurations have no name for this activation");
  config.expect_word_of(activation_names<Activation>, key, otherwise);
}
/// Calls `use` with the activation of this name; without a match with the first, for which `expect_activation` rejects
/// the name.
template <class First, class... Others, class Use>
auto with_activation(std::string_view name, const Use& use) {
  if constexpr (sizeof...(Others) > 0) {
    if (!is_activation<First>(name) && (is_activation<Others>(name) || ...)) {
      return with_activation<Others...>(name, use);
    }
  }
  return use(First());
}

/// The features of a head in models that divide their features among the heads.
[[nodiscard]] inline std::size_t head_extent(io::config_check& config, std::size_t features, std::size_t heads) {
  if (features % heads != 0) {
    config.differs(std::to_string(features) + " features are not divisible by " + std::to_string(heads) + " heads");
  }
  return std::max<std::size_t>(features / heads, 1);
}
/// The number of layers, checked against the number of arrays in the file: each layer allocates before it is compared.
[[nodiscard]] inline std::size_t layer_count(io::config_check& config, const std::string& key,
                                             const io::archive& weights, std::size_t arrays_of_one,
                                             std::optional<std::size_t> otherwise = {}) {
  const std::size_t arrays = weights.arrays().size();
  const std::size_t most = arrays / arrays_of_one;
  const std::size_t n = config.count(key, otherwise);
  if (n > most) {
    config.differs(key + " is " + std::to_string(n) + ", but " + weights.title() + " has " + std::to_string(arrays) +
                   " arrays, and each layer needs " + std::to_string(arrays_of_one));
  }
  return std::min(n, most);
}

namespace detail {

// What `language_model::next` returns.
template <class Model, class State>
[[nodiscard]] tensor<float, typename Model::vocab> next_logits(
    const Model& model, std::span<const std::type_identity_t<typename Model::token>> tokens, State& caches) {
  using seq = typename Model::seq;
  if (tokens.empty()) { dimwise::detail::raise<extent_error>(error{} << "next: no tokens were given"); }
  const auto x = model.features(tokens, caches);
  const typename Model::features_type last = slice<seq>(x, extent_of<seq>(x) - 1, 1);
  return at<seq>(model.logits(last), 0);
}

}  // namespace detail

/// The operations of a language model with any layers: Model has `token_embedding`, `blocks`, `norm` and `output`, and
/// defines `embedded` and `cache_for`. If it defines `shared_by_layers(text)`, each block gets that as a third
/// argument.
template <class Model, class Dims, class Block>
struct language_model {
  using token = id<typename Dims::vocab>;
  using word [[deprecated("use token")]] = token;
  using text_type = tensor<token, typename Dims::seq>;
  using features_type = tensor<float, typename Dims::seq, typename Dims::d_model>;
  using logits_type = tensor<float, typename Dims::seq, typename Dims::vocab>;
  /// The KV cache of every layer.
  using state = std::vector<typename Block::cache>;

  /// Empty caches for `length` positions.
  [[nodiscard]] state start(std::size_t length) const {
    state s;
    for (std::size_t i = 0; i < self().blocks.size(); ++i) { s.push_back(self().cache_for(length)); }
    return s;
  }
  /// Tokens at the positions after those in `caches`.
  [[nodiscard]] static text_type text(std::span<const token> tokens, const state& caches) {
    using seq = typename Dims::seq;
    return text_type(tokens, starting_at(seq{tokens.size()}, caches.empty() ? 0 : caches.front().end()));
  }

  /// The features of new tokens after the last norm; appends their keys and values to `caches`. `seen(layer, x)` is
  /// called with the embedded tokens (0) and with the output of each layer (1, 2, …). `embed(text)` gives the input of
  /// the first layer: [seq] -> [seq, d_model].
  ///
  /// Throws `extent_error` if the number of caches differs from the number of layers, and `origin_error` if the caches
  /// end at different positions. After an exception `caches` has not changed.
  template <class Seen, class Embed>
  [[nodiscard]] features_type features(std::span<const token> tokens, state& caches, const Seen& seen,
                                       const Embed& embed) const {
    check(caches);
    const std::ptrdiff_t begin = caches.empty() ? 0 : caches.front().end();
    try {
      const text_type read = text(tokens, caches);
      features_type x = embed(read);
      seen(std::size_t{0}, x);
      const auto through_blocks = [&](const auto&... shared) {
        for (std::size_t i = 0; i < self().blocks.size(); ++i) {
          x = self().blocks[i](x, caches[i], shared...);
          seen(i + 1, x);
        }
      };
      if constexpr (requires { self().shared_by_layers(read); }) {
        through_blocks(self().shared_by_layers(read));
      } else {
        through_blocks();
      }
      return self().norm(x);
    } catch (...) {
      for (auto& one : caches) { one.forget(static_cast<extent_t>(one.end() - begin)); }
      throw;
    }
  }
  /// The same with the model's own embedding.
  template <class Seen>
  [[nodiscard]] features_type features(std::span<const token> tokens, state& caches, const Seen& seen) const {
    return features(tokens, caches, seen, [&](const text_type& read) { return self().embedded(read); });
  }
  [[nodiscard]] features_type features(std::span<const token> tokens, state& caches) const {
    return features(tokens, caches, [](std::size_t, const auto&) {});
  }
  /// [seq, d_model] -> [seq, vocab]
  [[nodiscard]] logits_type logits(const features_type& x) const {
    if constexpr (requires { self().parts; }) {
      return self().output(self().token_embedding, x, self().parts);
    } else {
      return self().output(self().token_embedding, x);
    }
  }
  /// The logits of the token after the last one: [vocab]. Throws `extent_error` if `tokens` is empty.
  template <class State>
    requires std::derived_from<State, state>
  [[nodiscard]] tensor<float, typename Dims::vocab> next(std::span<const token> tokens, State& caches) const {
    return detail::next_logits(self(), tokens, caches);
  }

 private:
  void check(const state& caches) const {
    if (caches.size() != self().blocks.size()) {
      dimwise::detail::raise<extent_error>(error{} << "features: the model has " << self().blocks.size()
                                                   << " layers, but " << caches.size() << " caches were given"
                                                   << "; `start` makes one for each layer (R10)");
    }
    for (const auto& one : caches) {
      if (one.end() != caches.front().end()) {
        dimwise::detail::raise<origin_error>(error{} << "features: the caches of the layers end at positions "
                                                     << static_cast<long long>(caches.front().end()) << " and "
                                                     << static_cast<long long>(one.end())
                                                     << "; the caches of one text end at the same position");
      }
    }
  }
  [[nodiscard]] const Model& self() const { return static_cast<const Model&>(*this); }
};

/// The index of the first maximum. NaN is ignored; the index is 0 if all values are NaN.
// Sixteen independent maxima: a single chain of comparisons took a thirtieth of a token's time.
[[nodiscard]] inline std::size_t argmax(std::span<const float> values) {
  constexpr std::size_t n = 16;
  float most[n];
  std::fill(most, most + n, -std::numeric_limits<float>::infinity());
  std::size_t at = 0;
  for (; at + n <= values.size(); at += n) {
    for (std::size_t i = 0; i < n; ++i) { most[i] = values[at + i] > most[i] ? values[at + i] : most[i]; }
  }
  for (; at < values.size(); ++at) { most[0] = values[at] > most[0] ? values[at] : most[0]; }
  const auto found = std::find(values.begin(), values.end(), *std::max_element(most, most + n));
  return found == values.end() ? 0 : static_cast<std::size_t>(found - values.begin());
}

/// Greedy decoding: appends `count` tokens, each the argmax of its logits. `caches` holds the keys and values of the
/// text read so far. Throws `number_error` if a logit is NaN.
template <class Model>
[[nodiscard]] std::vector<typename Model::token> generate_greedy(
    const Model& model, std::span<const std::type_identity_t<typename Model::token>> tokens, std::size_t count,
    typename Model::state& caches) {
  std::vector<typename Model::token> made;
  while (made.size() < count) {
    const auto logits = made.empty() ? model.next(tokens, caches) : model.next(std::span(&made.back(), 1), caches);
    const auto values = logits.values();
    std::size_t nan_count = 0;  // a count has no branch that would keep the loop from being vectorised
    for (const float x : values) { nan_count += std::isnan(x) ? 1U : 0U; }
    if (nan_count > 0) {
      dimwise::detail::raise<number_error>(error{} << "generate_greedy: " << nan_count << " of " << values.size()
                                                   << " logits are NaN");
    }
    made.emplace_back(argmax(values));
  }
  return made;
}

/// The former name of `generate_greedy`.
template <class Model>
[[deprecated("use generate_greedy"), nodiscard]] std::vector<typename Model::token> continued(
    const Model& model, std::span<const std::type_identity_t<typename Model::token>> tokens, std::size_t count,
    typename Model::state& caches) {
  return generate_greedy(model, tokens, count, caches);
}

}  // namespace dimwise::models

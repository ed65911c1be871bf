// SPDX-License-Identifier: BSL-1.0
// dimwise/models/decoder/decoder_output.hpp -- the output of a decoder: features to logits.
//
// Layer: models.
// Tests: tests/models/decoders/decoder.test.cpp, the conformance suite `architectures`
#pragma once

#include <dimwise/models/decoder/layers.hpp>

#include <vector>

namespace dimwise::models {

/// The change of the logits by the output, if there is one.
struct decoder_output_settings {
  bool has_output = true;
  double scale = 1;
  double cap = 0;
  std::size_t vocab = 1;
};

/// The output of a decoder: features of the token embedding to logits, by a matrix of its own or the table of the
/// embedding.
template <class Dims, class Weights = float>
struct decoder_output {
  using seq = typename Dims::seq;
  using vocab = typename Dims::vocab;
  using d_model = typename Dims::d_model;
  using d_embedding = typename Dims::d_embedding;
  using project_type = nn::linear<nn::from<d_model>, nn::to<d_embedding>, nn::no_bias, Weights>;
  using map_type = nn::linear<nn::from<d_embedding>, nn::to<part_of_dims<Dims, vocab>>, nn::no_bias, Weights>;
  using project_list = std::vector<project_type>;
  using map_list = std::vector<map_type>;
  using bias_list = std::vector<tensor<float, vocab>>;
  using logits_type = tensor<float, seq, vocab>;

  project_list project{};
  map_list map{};
  bias_list bias{};
  decoder_output_settings settings{};
  using members =
      nn::member_list<&decoder_output::project, &decoder_output::map, &decoder_output::bias, &decoder_output::settings>;

  /// Throws `extent_error` if the model has no output.
  template <class TokenEmbedding>
  [[nodiscard]] logits_type operator()([[maybe_unused]] const TokenEmbedding& embedding,
                                       const tensor<float, seq, d_model>& x,
                                       const gatherer_of<Dims>& parts = {}) const {
    if (!settings.has_output) {
      dimwise::detail::raise<extent_error>(error{} << "logits: the checkpoint is of a model without an output, which "
                                                      "has features alone");
    }
    using embedded_type = tensor<float, seq, d_embedding>;
    const embedded_type h =
        project.empty() ? embedded_type(relabel<d_model, d_embedding>(x)) : embedded_type(project.front()(x));
    logits_type logits;
    if constexpr (divided_dims<Dims>) {
      logits = parts.template whole<vocab>(tensor(map.front()(h)), settings.vocab);
    } else {
      logits = map.empty() ? logits_type(embedding.logits(h)) : logits_type(map.front()(h));
    }
    if (!bias.empty()) { logits = logits + bias.front(); }
    if (settings.scale != 1) { logits = logits * static_cast<float>(settings.scale); }
    if (settings.cap != 0) {
      const auto cap = static_cast<float>(settings.cap);
      logits = tanh(logits / cap) * cap;
    }
    return logits;
  }
};

}  // namespace dimwise::models

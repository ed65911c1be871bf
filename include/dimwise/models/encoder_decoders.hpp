// SPDX-License-Identifier: BSL-1.0
// dimwise/models/encoder_decoders.hpp -- the list of encoder-decoder architectures, and reading any of them from a
// HuggingFace folder.
//
// Layer: models. An architecture is one function: what its config.json means, and how its arrays are named.
// Tests: tests/models/encoder_decoder.test.cpp, the conformance suite `architectures`
//
//   const auto model = models::read_encoder_decoder("folder");
//   auto state = model.start(source, 64);
//   auto text = models::generate_greedy(model, model.first(), 63, state);
#pragma once

#include <dimwise/io/checkpoint.hpp>
#include <dimwise/io/shards.hpp>
#include <dimwise/models/common/compiled.hpp>
#include <dimwise/models/common/find_architecture.hpp>
#include <dimwise/models/encoder/read.hpp>
#include <dimwise/models/encoder_decoder/bind.hpp>
#include <dimwise/models/encoder_decoders/bart.hpp>
#include <dimwise/models/encoder_decoders/m2m_100.hpp>
#include <dimwise/models/encoder_decoders/marian.hpp>
#include <dimwise/models/encoder_decoders/mbart.hpp>
#include <dimwise/models/encoder_decoders/pegasus.hpp>
#include <dimwise/models/encoder_decoders/t5.hpp>
#include <dimwise/models/generation_config.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace dimwise::models {

/// An architecture: its model_type in config.json, what it makes of the settings, what it is called, and what of it is
/// not read. `read` records mismatches in the settings, which `read_encoder_decoder` throws.
struct encoder_decoder_architecture {
  std::string model_type;
  encoder_decoder_description (*read)(io::config_check& settings, const io::archive& weights);
  std::string title{};
  std::string rejected{};
};
using encoder_decoder_architectures = std::vector<encoder_decoder_architecture>;

/// The architectures that `read_encoder_decoder` knows, by model_type.
[[nodiscard]] inline const encoder_decoder_architectures& known_encoder_decoders() {
  static const encoder_decoder_architectures all{
      {"bart", architectures::bart, "BART", ""},
      {"m2m_100", architectures::m2m_100, "M2M-100, NLLB-200", ""},
      {"marian", architectures::marian, "Marian (OPUS-MT)", "`share_encoder_decoder_embeddings` false"},
      {"mbart", architectures::mbart, "mBART, mBART-50", ""},
      {"mt5", architectures::mt5, "mT5", ""},
      {"pegasus", architectures::pegasus, "PEGASUS", ""},
      {"t5", architectures::t5, "T5, T5 1.1, FLAN-T5", ""},
      {"umt5", architectures::umt5, "UMT5", ""},
  };
  return all;
}

/// Interprets the settings of a checkpoint by `more`, then by `known_encoder_decoders`. Throws `file_error` for another
/// model_type, and one that lists every setting that is not read.
[[nodiscard]] inline encoder_decoder_description plan_encoder_decoder(const io::config_check& settings,
                                                                      const io::archive& weights,
                                                                      const encoder_decoder_architectures& more = {}) {
  const encoder_decoder_architecture& found =
      detail::find_architecture(settings, more, known_encoder_decoders(), "encoder-decoders");
  io::config_check config = settings;
  encoder_decoder_description plan = found.read(config, weights);
  config.finish();
  return plan;
}

namespace detail {

// Calls `use` with a model of these settings whose parameters are empty, and their bindings.
template <class Dims, class Weights, class Use>
void with_bound_encoder_decoder(const io::config_check& settings, const io::archive& weights,
                                const encoder_decoder_architectures& more, const Use& use) {
  const encoder_decoder_description plan = plan_encoder_decoder(settings, weights, more);
  io::config_check config = settings;
  const auto extents = extents_of_encoder<Dims>(config, plan.config.encoder);
  config.finish();
  encoder_decoder<Dims, Weights> m(plan.config);
  std::apply([&](const auto&... all) {
    io::bindings file(all...);
    bind_encoder_decoder(file, plan.names, m);
    use(m, file);
  }, extents);
}

}  // namespace detail

/// Builds a model from settings and arrays. Throws `file_error` that lists every mismatch.
template <class Dims = encoder_decoder_dims, class Weights = float>
[[nodiscard]] encoder_decoder<Dims, Weights> read_encoder_decoder(const io::config_check& settings,
                                                                  const io::archive& weights,
                                                                  const encoder_decoder_architectures& more = {}) {
  encoder_decoder<Dims, Weights> read;
  detail::with_bound_encoder_decoder<Dims, Weights>(settings, weights, more, [&](auto& m, const io::bindings& file) {
    io::load(m, weights, file, weights_rounding<Weights>);
    read = std::move(m);
  });
  return read;
}
/// Reads a HuggingFace folder: `config.json`, the first tokens of `generation_config.json`, and `model.safetensors` or
/// its shards. Throws `file_error` that lists every mismatch between the folder and what is read.
template <class Dims = encoder_decoder_dims, class Weights = float>
[[nodiscard]] encoder_decoder<Dims, Weights> read_encoder_decoder(const std::filesystem::path& folder,
                                                                  const encoder_decoder_architectures& more = {}) {
  return read_encoder_decoder<Dims, Weights>(settings_with_generation(folder), io::read_checkpoint(folder), more);
}

#define DIMWISE_DETAIL_ENCODER_DECODER(TEMPLATE, W)                                                \
  TEMPLATE struct encoder<encoder_decoder_dims, W>;                                                \
  TEMPLATE struct encoder_decoder<encoder_decoder_dims, W>;                                        \
  TEMPLATE encoder_decoder<encoder_decoder_dims, W> read_encoder_decoder<encoder_decoder_dims, W>( \
      const io::config_check&, const io::archive&, const encoder_decoder_architectures&);          \
  TEMPLATE encoder_decoder<encoder_decoder_dims, W> read_encoder_decoder<encoder_decoder_dims, W>( \
      const std::filesystem::path&, const encoder_decoder_architectures&);
DIMWISE_DETAIL_COMPILED_MODELS(DIMWISE_DETAIL_ENCODER_DECODER)

}  // namespace dimwise::models

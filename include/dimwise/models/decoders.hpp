// SPDX-License-Identifier: BSL-1.0
// dimwise/models/decoders.hpp -- the list of decoder architectures, and reading any of them from a
// HuggingFace folder.
//
// Layer: models. An architecture is one function: what its config.json means, and how its arrays are named.
// Tests: tests/models/decoder.test.cpp, the conformance suite `architectures`
//
//   const auto model = models::read_decoder("folder");                        // any architecture of the list
//   const auto own = models::read_decoder("folder", {{"mine", read_mine}});   // and one of your own
#pragma once

#include <dimwise/io/checkpoint.hpp>
#include <dimwise/io/shards.hpp>
#include <dimwise/models/common/find_architecture.hpp>
#include <dimwise/models/decoder/bind_decoder.hpp>
#include <dimwise/models/decoders/bloom.hpp>
#include <dimwise/models/decoders/cohere.hpp>
#include <dimwise/models/decoders/falcon.hpp>
#include <dimwise/models/decoders/gemma.hpp>
#include <dimwise/models/decoders/gpt2.hpp>
#include <dimwise/models/decoders/gpt_neox.hpp>
#include <dimwise/models/decoders/granite.hpp>
#include <dimwise/models/decoders/llama.hpp>
#include <dimwise/models/decoders/mistral.hpp>
#include <dimwise/models/decoders/olmo2.hpp>
#include <dimwise/models/decoders/opt.hpp>
#include <dimwise/models/decoders/phi.hpp>
#include <dimwise/models/decoders/qwen.hpp>
#include <dimwise/models/decoders/stablelm.hpp>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace dimwise::models {

/// An architecture: its model_type in config.json, what it makes of the settings, what it is called, and what of it is
/// not read. `read` records mismatches in the settings, which `read_decoder` throws.
struct decoder_architecture {
  std::string model_type;
  decoder_plan (*read)(io::config_check& settings);
  std::string title{};
  std::string rejected{};
};
using decoder_architectures = std::vector<decoder_architecture>;

/// The architectures that `read_decoder` knows, by model_type.
[[nodiscard]] inline const decoder_architectures& known_decoders() {
  namespace a = architectures;
  static const decoder_architectures all{
      {"bloom", a::bloom, "BLOOM", ""},
      {"cohere", a::cohere, "Command R (Cohere)", ""},
      {"falcon", a::falcon, "Falcon", "RefinedWeb's older `model_type`s"},
      {"gemma", a::gemma, "Gemma", ""},
      {"gemma2", a::gemma2, "Gemma 2", ""},
      {"gemma3_text", a::gemma3_text, "Gemma 3, text models", "`use_bidirectional_attention`"},
      {"gpt2", a::gpt2, "GPT-2", "`scale_attn_by_inverse_layer_idx`, `add_cross_attention`"},
      {"gpt_bigcode", a::gpt_bigcode, "StarCoder (GPTBigCode)",
       "`scale_attn_by_inverse_layer_idx`, `add_cross_attention`"},
      {"gpt_neox", a::gpt_neox, "GPT-NeoX, Pythia", ""},
      {"granite", a::granite, "Granite", ""},
      {"llama", a::llama, "LLaMA", ""},
      {"mistral", a::mistral, "Mistral", ""},
      {"mixtral", a::mixtral, "Mixtral", ""},
      {"olmo2", a::olmo2, "OLMo 2", ""},
      {"opt", a::opt, "OPT", ""},
      {"phi", a::phi, "Phi 1 to 2", ""},
      {"phi3", a::phi3, "Phi 3 and 4", "`attention_bias`"},
      {"qwen2", a::qwen2, "Qwen 2, Qwen 2.5", ""},
      {"qwen2_moe", a::qwen2_moe, "Qwen 1.5 and 2, mixture of experts", ""},
      {"qwen3", a::qwen3, "Qwen 3", ""},
      {"qwen3_moe", a::qwen3_moe, "Qwen 3, mixture of experts", ""},
      {"smollm3", a::smollm3, "SmolLM 3", ""},
      {"stablelm", a::stablelm, "StableLM", ""},
      {"starcoder2", a::starcoder2, "StarCoder 2", ""},
  };
  return all;
}

/// What the settings of a checkpoint mean: by `more`, then by `known_decoders`. Throws `file_error` for another
/// model_type, and one that lists every setting that is not read.
[[nodiscard]] inline decoder_plan plan_decoder(const io::config_check& settings,
                                               const decoder_architectures& more = {}) {
  const decoder_architecture& found = detail::find_architecture(settings, more, known_decoders(), "types");
  io::config_check config = settings;
  for (const char* key : {"quantization_config", "compression_config"}) {
    if (config.has(key)) { config.differs(std::string(key) + " is set; weights are read as floats"); }
  }
  decoder_plan plan = found.read(config);
  config.finish();
  return plan;
}

namespace detail {

// Calls `use` with a model of these settings whose parameters are empty, and their bindings.
template <class Dims, class Weights, class Use>
void with_bound_decoder(const io::config_check& settings, const io::archive& weights, const decoder_architectures& more,
                        const Use& use) {
  const decoder_plan plan = plan_decoder(settings, more);
  const decoder_config& c = plan.config;
  io::config_check config = settings;
  // Each layer, each expert and each norm of a head allocates before it is compared. A layer or an expert has three
  // arrays at least, a norm one.
  const std::size_t sparse = static_cast<std::size_t>(
      std::count_if(c.layers.begin(), c.layers.end(), [](const auto& layer) { return layer.sparse; }));
  const std::size_t arrays = weights.arrays().size();
  if (c.layers.size() > arrays / 3 || (sparse > 0 && c.experts > arrays / 3 / sparse)) {
    config.differs("there are " + std::to_string(c.layers.size()) + " layers and " + std::to_string(c.experts) +
                   " experts, but " + weights.title() + " has " + std::to_string(arrays) + " arrays");
  }
  if (c.head_norm == head_norm_kind::own_arrays && c.kv_heads * c.group > arrays) {
    config.differs("there are norms of " + std::to_string(c.kv_heads * c.group) + " heads, but " + weights.title() +
                   " has " + std::to_string(arrays) + " arrays");
  }
  check_decoder_extents<Dims>(config, c);
  config.finish();
  decoder<Dims, Weights> m(c);
  std::apply([&](const auto&... extents) {
    io::bindings file(extents...);
    bind_decoder(file, plan.names, m);
    use(m, file);
  }, decoder_extents<Dims>(c));
}

}  // namespace detail

/// Builds a model from settings and arrays. Throws `file_error` that lists every mismatch.
template <class Dims = decoder_dims, class Weights = float>
[[nodiscard]] decoder<Dims, Weights> read_decoder(const io::config_check& settings, const io::archive& weights,
                                                  const decoder_architectures& more = {}) {
  decoder<Dims, Weights> read;
  detail::with_bound_decoder<Dims, Weights>(settings, weights, more, [&](auto& m, const io::bindings& file) {
    io::load(m, weights, file, weights_rounding<Weights>);
    for (auto& block : m.blocks) { block.attention.join_norms(m.config); }
    read = std::move(m);
  });
  return read;
}
/// Reads a HuggingFace folder: `config.json`, and `model.safetensors` or its shards. Throws `file_error` that lists
/// every mismatch between the folder and what is read.
template <class Dims = decoder_dims, class Weights = float>
[[nodiscard]] decoder<Dims, Weights> read_decoder(const std::filesystem::path& folder,
                                                  const decoder_architectures& more = {}) {
  const std::filesystem::path file = std::filesystem::path(folder).append("config.json");
  return read_decoder<Dims, Weights>(io::config_check(file), io::read_checkpoint(folder), more);
}

}  // namespace dimwise::models

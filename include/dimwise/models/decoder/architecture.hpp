// SPDX-License-Identifier: BSL-1.0
// dimwise/models/decoder/architecture.hpp -- the list of decoder architectures, and reading any of them from a
// HuggingFace folder.
//
// Layer: models. An architecture is one function: what its config.json means, and how its arrays are named.
// Tests: tests/models/decoder.test.cpp, the conformance suite `decoders`
//
//   const auto model = models::read_decoder("folder");                        // any architecture of the list
//   const auto own = models::read_decoder("folder", {{"mine", read_mine}});   // and one of your own
#pragma once

#include <dimwise/io/checkpoint.hpp>
#include <dimwise/io/shards.hpp>
#include <dimwise/models/architectures/decoders/bloom.hpp>
#include <dimwise/models/architectures/decoders/cohere.hpp>
#include <dimwise/models/architectures/decoders/falcon.hpp>
#include <dimwise/models/architectures/decoders/gemma.hpp>
#include <dimwise/models/architectures/decoders/gpt2.hpp>
#include <dimwise/models/architectures/decoders/gpt_neox.hpp>
#include <dimwise/models/architectures/decoders/granite.hpp>
#include <dimwise/models/architectures/decoders/llama.hpp>
#include <dimwise/models/architectures/decoders/mistral.hpp>
#include <dimwise/models/architectures/decoders/olmo2.hpp>
#include <dimwise/models/architectures/decoders/opt.hpp>
#include <dimwise/models/architectures/decoders/phi.hpp>
#include <dimwise/models/architectures/decoders/qwen.hpp>
#include <dimwise/models/architectures/decoders/stablelm.hpp>
#include <dimwise/models/decoder/bind_decoder.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace dimwise::models {

/// An architecture: its model_type in config.json, and what it makes of the settings. `read` records mismatches in the
/// settings, which `read_decoder` throws.
struct decoder_architecture {
  std::string model_type;
  decoder_plan (*read)(io::config_check& settings);
};
using decoder_architectures = std::vector<decoder_architecture>;

/// The architectures that `read_decoder` knows, by model_type.
[[nodiscard]] inline const decoder_architectures& known_decoders() {
  namespace a = architectures;
  static const decoder_architectures all{{"bloom", a::bloom},
                                         {"cohere", a::cohere},
                                         {"falcon", a::falcon},
                                         {"gemma", a::gemma},
                                         {"gemma2", a::gemma2},
                                         {"gemma3_text", a::gemma3_text},
                                         {"gpt2", a::gpt2},
                                         {"gpt_bigcode", a::gpt_bigcode},
                                         {"gpt_neox", a::gpt_neox},
                                         {"granite", a::granite},
                                         {"llama", a::llama},
                                         {"mistral", a::mistral},
                                         {"mixtral", a::mixtral},
                                         {"olmo2", a::olmo2},
                                         {"opt", a::opt},
                                         {"phi", a::phi},
                                         {"phi3", a::phi3},
                                         {"qwen2", a::qwen2},
                                         {"qwen3", a::qwen3},
                                         {"qwen3_moe", a::qwen3_moe},
                                         {"smollm3", a::smollm3},
                                         {"stablelm", a::stablelm},
                                         {"starcoder2", a::starcoder2}};
  return all;
}

/// What the settings of a checkpoint mean: by `more`, then by `known_decoders`. Throws `file_error` that lists every
/// setting that is not read.
[[nodiscard]] inline decoder_plan plan_decoder(const io::config_check& settings,
                                               const decoder_architectures& more = {}) {
  io::config_check config = settings;
  const std::string kind = config.word("model_type");
  config.finish();
  std::string known;
  for (const decoder_architectures* list : {&more, &known_decoders()}) {
    for (const decoder_architecture& one : *list) {
      if (one.model_type != kind) {
        known += (known.empty() ? "" : ", ") + one.model_type;
        continue;
      }
      for (const char* key : {"quantization_config", "compression_config"}) {
        if (config.has(key)) { config.differs(std::string(key) + " is set; weights are read as floats"); }
      }
      decoder_plan plan = one.read(config);
      config.finish();
      return plan;
    }
  }
  config.differs("model_type is " + io::detail::printable(kind) + "; the types that are read are " + known);
  config.finish();
  return {};
}

/// Builds a model from settings and arrays. Throws `file_error` that lists every mismatch.
template <class Dims = decoder_dims, class Weights = float>
[[nodiscard]] decoder<Dims, Weights> read_decoder(const io::config_check& settings, const io::archive& weights,
                                                  const decoder_architectures& more = {}) {
  const decoder_plan plan = plan_decoder(settings, more);
  const decoder_config& c = plan.config;
  io::config_check config = settings;
  // Each layer and each expert allocates before it is compared, and has three arrays at least.
  const std::size_t sparse = static_cast<std::size_t>(
      std::count_if(c.layers.begin(), c.layers.end(), [](const auto& layer) { return layer.sparse; }));
  const std::size_t arrays = weights.arrays().size();
  if (c.layers.size() > arrays / 3 || (sparse > 0 && c.experts > arrays / 3 / sparse)) {
    config.differs("there are " + std::to_string(c.layers.size()) + " layers and " + std::to_string(c.experts) +
                   " experts, but " + weights.title() + " has " + std::to_string(arrays) + " arrays");
  }
  check_decoder_extents<Dims>(config, c);
  config.finish();
  decoder<Dims, Weights> m(c);
  std::apply([&](const auto&... extents) {
    io::bindings file(extents...);
    bind_decoder(file, plan.names, m);
    io::load(m, weights, file, weights_rounding<Weights>);
  }, decoder_extents<Dims>(c));
  return m;
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

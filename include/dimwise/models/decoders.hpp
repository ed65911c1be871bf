// SPDX-License-Identifier: BSL-1.0
// dimwise/models/decoders.hpp -- the list of decoder architectures, and reading any of them from a
// HuggingFace folder.
//
// Layer: models. An architecture is one function: what its config.json means, and how its arrays are named.
// Tests: tests/models/decoders/decoder.test.cpp, the conformance suite `architectures`
//
//   const auto model = models::read_decoder("folder");                        // any architecture of the list
//   const auto own = models::read_decoder("folder", {{"mine", read_mine}});   // and one of your own
//   const auto part = models::read_decoder_run("folder", 1, 4);               // the layers of the second of four ranks
#pragma once

#include <dimwise/io/checkpoint.hpp>
#include <dimwise/io/shards.hpp>
#include <dimwise/models/common/compiled.hpp>
#include <dimwise/models/common/find_architecture.hpp>
#include <dimwise/models/decoder/bind_decoder.hpp>
#include <dimwise/models/decoder/block_scales.hpp>
#include <dimwise/models/decoder/expert_arrays.hpp>
#include <dimwise/models/decoders/bloom.hpp>
#include <dimwise/models/decoders/cohere.hpp>
#include <dimwise/models/decoders/deepseek.hpp>
#include <dimwise/models/decoders/falcon.hpp>
#include <dimwise/models/decoders/gemma.hpp>
#include <dimwise/models/decoders/gpt/gpt2.hpp>
#include <dimwise/models/decoders/gpt/gpt_neox.hpp>
#include <dimwise/models/decoders/gpt/gpt_oss.hpp>
#include <dimwise/models/decoders/gpt/gptj.hpp>
#include <dimwise/models/decoders/granite.hpp>
#include <dimwise/models/decoders/llama.hpp>
#include <dimwise/models/decoders/mistral.hpp>
#include <dimwise/models/decoders/olmo.hpp>
#include <dimwise/models/decoders/opt.hpp>
#include <dimwise/models/decoders/phi.hpp>
#include <dimwise/models/decoders/qwen.hpp>
#include <dimwise/models/decoders/stablelm.hpp>
#include <dimwise/models/decoders/with_images.hpp>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace dimwise::models {

/// The architectures that `read_decoder` knows, by model_type. Each file of models/decoders lists its own.
[[nodiscard]] inline const decoder_architectures& known_decoders() {
  static const decoder_architectures all = [] {
    namespace a = architectures;
    decoder_architectures joined;
    for (const auto& list :
         {a::bloom_list, a::cohere_list, a::deepseek_list, a::falcon_list, a::gemma_list, a::gpt2_list,
          a::gpt_neox_list, a::gpt_oss_list, a::gptj_list, a::granite_list, a::llama_list, a::mistral_list,
          a::olmo_list, a::opt_list, a::phi_list, a::qwen_list, a::stablelm_list, a::images_list}) {
      for (decoder_architecture& one : list()) { joined.push_back(std::move(one)); }
    }
    std::sort(joined.begin(), joined.end(), [](const auto& x, const auto& y) { return x.model_type < y.model_type; });
    return joined;
  }();
  return all;
}

/// Interprets the settings of a checkpoint by `more`, then by `known_decoders`. Throws `file_error` for another
/// model_type, and one that lists every setting that is not read.
[[nodiscard]] inline decoder_plan plan_decoder(const io::config_check& settings,
                                               const decoder_architectures& more = {}) {
  const decoder_architecture& found = detail::find_architecture(settings, more, known_decoders(), "types");
  io::config_check config = settings;
  decoder_plan plan = found.read(config);
  read_direction(config, plan.config);
  read_output(config, plan.config);
  if (!plan.reads_quantised) { detail::read_block_scales(config, plan); }
  for (const char* key : {"quantization_config", "compression_config"}) {
    if (config.has(key) && !plan.reads_quantised) {
      config.differs(std::string(key) + " is set; weights are read as floats");
    }
  }
  const decoder_config& c = plan.config;
  if ((c.sinks ? 1 : 0) + (c.alibi ? 1 : 0) + (c.score_cap != 0 ? 1 : 0) > 1) {
    config.differs(
        "the architecture has two of sinks, ALiBi and a soft cap of scores, which are not supported together");
  }
  if (c.feed.limit > 0 && !c.feed.gated) {
    config.differs(
        "the architecture clamps hidden features of a feed-forward layer without a gate, which is not "
        "supported");
  }
  config.finish();
  return plan;
}

namespace detail {

// Rejects settings whose layers this many ranks cannot divide.
inline void check_division(io::config_check& config, const decoder_config& c, std::size_t ranks) {
  const std::string among = " cannot be divided among " + std::to_string(ranks) + " ranks";
  const auto check = [&](const char* what, std::size_t count) {
    if (count % ranks != 0) { config.differs(std::to_string(count) + what + among); }
  };
  check(" key heads", c.kv_heads);
  check(" features", c.d_model);
  check(" features of a token embedding", c.d_embedding);
  const bool is_dense = std::any_of(c.layers.begin(), c.layers.end(), [](const auto& layer) { return !layer.sparse; });
  check(" hidden features", is_dense ? c.hidden : 0);
  check(" hidden features of an expert", c.experts == 0 ? 0 : c.expert_hidden);
  check(" hidden features of a shared expert", c.shared_hidden);
  if (c.head_norm == head_norm_kind::whole || c.head_norm == head_norm_kind::own_arrays) {
    config.differs("a norm of queries and keys over all heads" + among);
  }
}

// Calls `use` with a model of these settings whose parameters are empty, their bindings, and the arrays, in which each
// expert has arrays of its own.
template <class Dims, class Weights, class Use>
void with_bound_decoder(const io::config_check& settings, const io::archive& file_arrays,
                        const decoder_architectures& more, const Use& use, const gatherer_of<Dims>& parts = {}) {
  const decoder_plan plan = plan_decoder(settings, more);
  const io::archive weights = with_single_experts(with_block_scales(file_arrays, plan), plan);
  const decoder_config& c = plan.config;
  io::config_check config = settings;
  // Each layer, each expert and each norm of a head allocates before it is compared. A layer has three arrays at least,
  // an expert two, a norm one.
  const std::size_t sparse = static_cast<std::size_t>(
      std::count_if(c.layers.begin(), c.layers.end(), [](const auto& layer) { return layer.sparse; }));
  const std::size_t arrays = weights.arrays().size();
  if (c.layers.size() > arrays / 3 || (sparse > 0 && c.experts > arrays / 2 / sparse)) {
    config.differs("there are " + std::to_string(c.layers.size()) + " layers and " + std::to_string(c.experts) +
                   " experts, but " + weights.title() + " has " + std::to_string(arrays) + " arrays");
  }
  if (c.head_norm == head_norm_kind::own_arrays && c.kv_heads * c.group > arrays) {
    config.differs("there are norms of " + std::to_string(c.kv_heads * c.group) + " heads, but " + weights.title() +
                   " has " + std::to_string(arrays) + " arrays");
  }
  check_decoder_extents<Dims>(config, c);
  if constexpr (divided_dims<Dims>) { check_division(config, c, parts.size()); }
  config.finish();
  decoder<Dims, Weights> m(c, {0, c.layers.size(), c.layers.size()}, parts);
  std::apply([&](const auto&... extents) {
    io::bindings file(extents...);
    bind_decoder(file, plan.names, m);
    use(m, file, weights);
  }, decoder_extents<Dims>(c, parts));
}

}  // namespace detail

/// Builds a model from settings and arrays. Throws `file_error` that lists every mismatch.
template <class Dims = decoder_dims, class Weights = float>
[[nodiscard]] decoder<Dims, Weights> read_decoder(const io::config_check& settings, const io::archive& weights,
                                                  const decoder_architectures& more = {}) {
  decoder<Dims, Weights> read;
  detail::with_bound_decoder<Dims, Weights>(settings, weights, more,
                                            [&](auto& m, const io::bindings& file, const io::archive& arrays) {
    io::load(m, arrays, file, weights_rounding<Weights>);
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

/// This rank's part of every layer: heads, hidden features, and tokens of the output (`divided_dims`). `parts` makes
/// parts whole, and `place(bindings)` says where this rank's parts are in the arrays (`ranks::place_parts`). Reads only
/// this rank's part of each array.
///
/// Throws `file_error` that lists every mismatch, and settings that the ranks cannot divide.
template <divided_dims Dims, class Weights = float, class Place>
[[nodiscard]] decoder<Dims, Weights> read_decoder_part(const io::config_check& settings, const io::archive& weights,
                                                       const gatherer_of<Dims>& parts, const Place& place,
                                                       const decoder_architectures& more = {}) {
  decoder<Dims, Weights> read;
  const auto use = [&](auto& m, io::bindings& file, const io::archive& arrays) {
    place(file);
    io::load(m, arrays, file, weights_rounding<Weights>);
    read = std::move(m);
  };
  detail::with_bound_decoder<Dims, Weights>(settings, weights, more, use, parts);
  return read;
}

/// The layers of each rank, from the sizes of the layers and of what the first and the last rank have besides: every
/// rank has at least one layer, and the largest size of a rank is as small as possible. Throws `extent_error` if there
/// are more ranks than layers, or no rank.
[[nodiscard]] inline std::vector<layer_run> divide_layers(const std::vector<std::size_t>& sizes, std::size_t before,
                                                          std::size_t after, std::size_t ranks) {
  const std::size_t count = sizes.size();
  if (ranks == 0 || ranks > count) {
    dimwise::detail::raise<extent_error>(error{} << "divide_layers: the model has " << count << " layers and cannot be "
                                                 << "divided among " << ranks << " ranks; each has at least one layer");
  }
  std::vector<layer_run> runs(ranks);
  // Each rank takes as many layers as the limit allows; the ranks after it get one each at least.
  const auto fits = [&](std::size_t limit) {
    std::size_t next = 0;
    for (std::size_t r = 0; r < ranks; ++r) {
      const bool is_last = r + 1 == ranks;
      const std::size_t most = count - (ranks - 1 - r);
      layer_run& run = runs[r] = {next, next, count};
      std::size_t size = (r == 0 ? before : 0) + (is_last ? after : 0);
      while (run.end < most && (run.end == run.begin || is_last || size + sizes[run.end] <= limit)) {
        size += sizes[run.end++];
      }
      if (size > limit) { return false; }
      next = run.end;
    }
    return true;
  };
  std::size_t too_small = 0;
  std::size_t enough = std::accumulate(sizes.begin(), sizes.end(), before + after);
  while (too_small + 1 < enough) {
    const std::size_t middle = too_small + (enough - too_small) / 2;
    (fits(middle) ? enough : too_small) = middle;
  }
  (void)fits(enough);
  return runs;
}

namespace detail {

// The layers of each rank, by the numbers of elements that the bindings of a whole model need.
inline std::vector<layer_run> divide_decoder(const io::bindings& whole, const decoder_plan& plan, std::size_t ranks) {
  const decoder_names& names = plan.names;
  const auto is_part_of = [](const std::string& name, const std::string& module) {
    return !module.empty() && name.starts_with(module + ".");
  };
  std::vector<std::size_t> sizes(plan.config.layers.size());
  std::size_t before = 0;
  std::size_t after = 0;
  for (const auto& b : whole.list().all) {
    const std::string& name = b->names.front();
    const std::size_t size = b->how.size();
    std::size_t layer = sizes.size();
    if (name.starts_with(names.layer)) {
      (void)std::from_chars(name.data() + names.layer.size(), name.data() + name.size(), layer);
    }
    if (layer < sizes.size()) {
      sizes[layer] += size;
    } else if (is_part_of(name, names.tokens)) {
      before += size;
      after += plan.config.tied ? size : 0;
    } else if (is_part_of(name, names.positions) || is_part_of(name, names.project_in) ||
               is_part_of(name, names.embedding_norm)) {
      before += size;
    } else {
      after += size;
    }
  }
  return divide_layers(sizes, before, after, ranks);
}

}  // namespace detail

/// The layers that the rank `rank` of `ranks` has of a model (`divide_layers`), and what comes before the first and
/// after the last layer: `ranks::pipeline` computes with them. Reads the arrays of these layers only. Throws
/// `extent_error` for a rank that does not exist.
///
/// Throws `file_error` that lists every mismatch of the whole model, and `extent_error` if there are more ranks than
/// layers.
template <class Dims = decoder_dims, class Weights = float>
[[nodiscard]] decoder<Dims, Weights> read_decoder_run(const io::config_check& settings, const io::archive& weights,
                                                      std::size_t rank, std::size_t ranks,
                                                      const decoder_architectures& more = {}) {
  decoder<Dims, Weights> read;
  detail::with_bound_decoder<Dims, Weights>(settings, weights, more,
                                            [&](auto& whole, io::bindings& file, const io::archive& arrays) {
    const decoder_plan plan = plan_decoder(settings, more);
    const std::vector<layer_run> runs = detail::divide_decoder(file, plan, ranks);
    if (rank >= ranks) {
      dimwise::detail::raise<extent_error>(error{} << "read_decoder_run: rank " << rank << " of " << ranks
                                                   << " ranks, a number below " << ranks << " is expected");
    }
    const layer_run run = runs[rank];
    if (!run.is_last() && plan.config.tied) {  // the last rank compares a copy of the table of tokens
      file.list().same.clear();
      for (const std::string& output : {plan.names.output, plan.names.other_output}) {
        file.ignore(output + ".weight");
      }
    }
    decoder<Dims, Weights> m(plan.config, run);
    std::apply([&](const auto&... extents) {
      io::bindings own(extents...);
      bind_decoder(own, plan.names, m);
      io::detail::load_bound(io::compare(whole, arrays, file, weights_rounding<Weights>), arrays, own);
    }, decoder_extents<Dims>(plan.config));
    for (auto& block : m.blocks) { block.attention.join_norms(m.config); }
    read = std::move(m);
  });
  return read;
}
/// The same of a HuggingFace folder.
template <class Dims = decoder_dims, class Weights = float>
[[nodiscard]] decoder<Dims, Weights> read_decoder_run(const std::filesystem::path& folder, std::size_t rank,
                                                      std::size_t ranks, const decoder_architectures& more = {}) {
  const std::filesystem::path file = std::filesystem::path(folder).append("config.json");
  return read_decoder_run<Dims, Weights>(io::config_check(file), io::read_checkpoint(folder), rank, ranks, more);
}

#define DIMWISE_DETAIL_DECODER(TEMPLATE, W)                                                                         \
  TEMPLATE struct decoder_block<decoder_dims, W>;                                                                   \
  TEMPLATE struct decoder<decoder_dims, W>;                                                                         \
  TEMPLATE struct language_model<decoder<decoder_dims, W>, decoder_dims, decoder_block<decoder_dims, W>>;           \
  TEMPLATE tensor<float, decoder_dims::vocab> detail::next_logits(                                                  \
      const decoder<decoder_dims, W>&, std::span<const id<decoder_dims::vocab>>, decoder<decoder_dims, W>::state&); \
  TEMPLATE void bind_decoder(io::bindings&, const decoder_names&, decoder<decoder_dims, W>&);                       \
  TEMPLATE decoder<decoder_dims, W> read_decoder<decoder_dims, W>(const io::config_check&, const io::archive&,      \
                                                                  const decoder_architectures&);                    \
  TEMPLATE decoder<decoder_dims, W> read_decoder<decoder_dims, W>(const std::filesystem::path&,                     \
                                                                  const decoder_architectures&);                    \
  TEMPLATE decoder<decoder_dims, W> read_decoder_run<decoder_dims, W>(                                              \
      const io::config_check&, const io::archive&, std::size_t, std::size_t, const decoder_architectures&);         \
  TEMPLATE decoder<decoder_dims, W> read_decoder_run<decoder_dims, W>(const std::filesystem::path&, std::size_t,    \
                                                                      std::size_t, const decoder_architectures&);
DIMWISE_DETAIL_COMPILED_MODELS(DIMWISE_DETAIL_DECODER)

}  // namespace dimwise::models

// src/programs/predict/files.hpp -- what dimwise-predict reads and writes: the sizes of a model, the figures of a
// machine.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "../common.hpp"
#include "machines.hpp"
#include <dimwise/models/decoders.hpp>

#include <algorithm>
#include <filesystem>
#include <string>

namespace prediction {

/// The sizes of a decoder in the settings of its checkpoint. A mixture of experts counts by its average layer.
inline model model_of(const dimwise::models::decoder_config& c, std::string name) {
  const auto number = [](std::size_t n) { return static_cast<double>(n); };
  model m{.name = std::move(name),
          .layers = number(c.layers.size()),
          .d_model = number(c.d_model),
          .heads = number(c.kv_heads * c.group),
          .kv_heads = number(c.kv_heads),
          .d_k = number(c.d_k),
          .vocab = number(c.vocab),
          .positions = number(c.position_rows),
          .gated = c.feed.gated,
          .tied = c.tied,
          .biases = c.feed.bias,
          .layer_norm = c.norm.kind == dimwise::models::norm_kind::layer};
  double used = 0;
  double stored = 0;
  for (const auto& layer : c.layers) {
    used += number(layer.sparse ? c.chosen_experts * c.expert_hidden + c.shared_hidden : c.hidden);
    stored += number(layer.sparse ? c.experts * c.expert_hidden + c.shared_hidden : c.hidden);
  }
  m.hidden = used / std::max(m.layers, 1.0);
  m.stored_hidden = stored / std::max(m.layers, 1.0);
  return m;
}

/// A model by its name or its folder.
inline model find_model(const std::string& name) {
  std::string names;
  for (const model& one : known_models()) {
    if (one.name == name) { return one; }
    names += (names.empty() ? "" : ", ") + one.name;
  }
  if (!std::filesystem::is_directory(name)) {
    programs::refuse(name + ": neither a folder nor one of the models " + names);
  }
  const dimwise::io::config_check config(programs::model_folder(name) / "config.json");
  const dimwise::models::decoder_plan plan = dimwise::models::plan_decoder(config);
  if (plan.config.latent > 0) { programs::refuse(name + ": models with latent attention are not predicted"); }
  return model_of(plan.config, name);
}

/// A link as JSON.
inline nlohmann::json to_json(const connection& l) {
  return {{"latency", l.latency}, {"bandwidth", l.bandwidth}, {"reduce_bandwidth", l.reduce_bandwidth}, {"gap", l.gap}};
}

/// A machine as JSON.
inline nlohmann::json to_json(const machine& on) {
  return {{"name", on.name},
          {"product_rate", on.product_rate},
          {"attention_rate", on.attention_rate},
          {"stream_bandwidth", on.stream_bandwidth},
          {"pointwise_bandwidth", on.pointwise_bandwidth},
          {"call", on.call},
          {"memory", on.memory},
          {"ranks_per_machine", on.ranks_per_machine},
          {"cores", on.cores},
          {"far_links", on.far_links},
          {"near", to_json(on.near)},
          {"far", to_json(on.far)},
          {"reduction", on.reduction == reduction_kind::direct ? "direct" : "fastest"},
          {"stores_scores", on.stores_scores},
          {"counts_masked", on.counts_masked},
          {"overlaps_data", on.overlaps_data}};
}

/// Rejects settings that are not read.
inline void expect_keys(dimwise::io::config_check& settings, const nlohmann::json& known) {
  for (const std::string& key : settings.keys()) {
    if (!known.contains(key)) { settings.differs(key + " is not a figure that is read"); }
  }
}

/// The link of a machine's file.
inline connection link_in(dimwise::io::config_check& machine_file, const std::string& name) {
  using dimwise::io::number_range;
  if (!machine_file.has(name)) {
    machine_file.differs(name + " is missing");
    return {};
  }
  const bool is_object = machine_file.setting(name).is_object();
  dimwise::io::config_check c(machine_file.object(name), machine_file.title() + ": " + name);  // or records it
  if (!is_object) { return {}; }
  connection l{.latency = c.number("latency", {}, number_range::from_zero),
               .bandwidth = c.number("bandwidth", {}, number_range::above_zero)};
  l.reduce_bandwidth = c.number("reduce_bandwidth", l.bandwidth, number_range::above_zero);
  l.gap = c.number("gap", l.latency / 4, number_range::from_zero);
  expect_keys(c, to_json(connection{}));
  c.finish();
  return l;
}

/// The figures of a machine's file.
inline machine machine_in(const std::filesystem::path& path) {
  using dimwise::io::number_range;
  dimwise::io::config_check c(path);
  machine on;
  on.name = c.word("name", path.string());
  on.product_rate = c.number("product_rate", {}, number_range::above_zero);
  on.attention_rate = c.number("attention_rate", on.product_rate, number_range::above_zero);
  on.stream_bandwidth = c.number("stream_bandwidth", {}, number_range::above_zero);
  on.pointwise_bandwidth = c.number("pointwise_bandwidth", on.stream_bandwidth, number_range::above_zero);
  on.call = c.number("call", 0, number_range::from_zero);
  on.memory = c.number("memory", 0, number_range::from_zero);
  on.ranks_per_machine = c.number("ranks_per_machine", 1, number_range::above_zero);
  on.cores = c.number("cores", 0, number_range::from_zero);
  on.far_links = c.number("far_links", 1, number_range::above_zero);
  on.near = link_in(c, "near");
  on.far = link_in(c, "far");
  c.expect_word("reduction", {"direct", "fastest"}, "direct");
  on.reduction = c.word("reduction", "direct") == "fastest" ? reduction_kind::fastest : reduction_kind::direct;
  on.stores_scores = c.flag("stores_scores", false);
  on.counts_masked = c.flag("counts_masked", false);
  on.overlaps_data = c.flag("overlaps_data", false);
  expect_keys(c, to_json(machine{}));
  c.finish();
  return on;
}

}  // namespace prediction

// src/programs/predict/machines.hpp -- links, machines and models that dimwise-predict knows by name.
//
// Links are nominal figures. Latencies of Ethernet are those of small messages through the kernel (10 Gb/s) and of
// RDMA (100 Gb/s).
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "forecast.hpp"

#include <optional>
#include <string>
#include <vector>

namespace prediction {

struct named_link {
  std::string name{};
  connection figures{};
};

/// 10 and 100 Gb/s Ethernet; HDR InfiniBand, 200 Gb/s; third-generation NVLink, 300 GB/s in each direction.
inline const std::vector<named_link>& known_links() {
  static const std::vector<named_link> all{
      {"10g", {.latency = 50e-6, .bandwidth = 1.25e9, .reduce_bandwidth = 1.25e9, .gap = 5e-6}},
      {"100g", {.latency = 5e-6, .bandwidth = 12.5e9, .reduce_bandwidth = 12.5e9, .gap = 1e-6}},
      {"infiniband", {.latency = 5e-6, .bandwidth = 25e9, .reduce_bandwidth = 25e9, .gap = 1e-6}},
      {"nvlink", {.latency = 3e-6, .bandwidth = 300e9, .reduce_bandwidth = 300e9, .gap = 1e-6}},
  };
  return all;
}

inline std::optional<connection> find_link(const std::string& name) {
  for (const named_link& one : known_links()) {
    if (one.name == name) { return one.figures; }
  }
  return std::nullopt;
}

/// A DGX A100: eight GPUs of 80 GB with NVLink, eight HDR InfiniBand cards. NVIDIA gives the peak, 312 TFLOP/s in 16
/// bits, and 2,039 GB/s. Products and attention reach `product_share` of the peak, the one figure that is fitted: to
/// the first row of table 1 of Narayanan et al. 2021.
inline machine a100() {
  constexpr double product_share = 0.70;
  constexpr double peak = 312e12;
  constexpr double memory_bandwidth = 2.039e12;
  return {.name = "a100",
          .product_rate = product_share * peak,
          .attention_rate = product_share * peak,
          .stream_bandwidth = memory_bandwidth,
          .pointwise_bandwidth = memory_bandwidth,
          .call = 0,
          .memory = 80e9,
          .ranks_per_machine = 8,
          .cores = 0,
          .far_links = 8,
          .near = *find_link("nvlink"),
          .far = *find_link("infiniband"),
          .reduction = reduction_kind::fastest};
}

/// The same with the software of Narayanan et al. 2021: attention stores its scores, masked ones as well.
inline machine a100_2021() {
  machine on = a100();
  on.name = "a100-2021";
  on.stores_scores = true;
  on.counts_masked = true;
  return on;
}

/// A node that reads 200 GB/s of weights, as in figures on paper: decoding is bound by memory.
inline machine node_200() {
  return {.name = "node200",
          .product_rate = 2e12,
          .attention_rate = 2e12,
          .stream_bandwidth = 200e9,
          .pointwise_bandwidth = 200e9,
          .call = 0,
          .memory = 256e9,
          .ranks_per_machine = 1,
          .cores = 0,
          .far_links = 1,
          .near = *find_link("10g"),
          .far = *find_link("10g"),
          .reduction = reduction_kind::fastest};
}

inline model gpt(std::string name, double layers, double width, double heads, double vocab, double positions) {
  return {.name = std::move(name),
          .layers = layers,
          .d_model = width,
          .heads = heads,
          .kv_heads = heads,
          .d_k = width / heads,
          .hidden = 4 * width,
          .vocab = vocab,
          .positions = positions,
          .gated = false,
          .tied = true,
          .biases = true,
          .layer_norm = true};
}

inline model llama(std::string name, double layers, double width, double heads, double kv_heads, double hidden,
                   double vocab) {
  return {.name = std::move(name),
          .layers = layers,
          .d_model = width,
          .heads = heads,
          .kv_heads = kv_heads,
          .d_k = width / heads,
          .hidden = hidden,
          .vocab = vocab,
          .gated = true,
          .tied = false};
}

/// Models by name: GPT-2, LLaMA 3.1, and the models of Narayanan et al. 2021, tables 1 and 2.
inline const std::vector<model>& known_models() {
  static const std::vector<model> all{
      gpt("gpt2", 12, 768, 12, 50257, 1024),
      gpt("gpt2-xl", 48, 1600, 25, 50257, 1024),
      llama("llama-3.1-8b", 32, 4096, 32, 8, 14336, 128256),
      llama("llama-3.1-70b", 80, 8192, 64, 8, 28672, 128256),
      llama("llama-3.1-405b", 126, 16384, 128, 8, 53248, 128256),
      gpt("megatron-1.7b", 24, 2304, 24, 51200, 2048),
      gpt("megatron-3.6b", 30, 3072, 32, 51200, 2048),
      gpt("megatron-7.5b", 36, 4096, 32, 51200, 2048),
      gpt("megatron-18.4b", 40, 6144, 48, 51200, 2048),
      gpt("megatron-39.1b", 48, 8192, 64, 51200, 2048),
      gpt("megatron-76.1b", 60, 10240, 80, 51200, 2048),
      gpt("megatron-145.6b", 80, 12288, 96, 51200, 2048),
      gpt("megatron-174.6b", 96, 12288, 96, 51200, 2048),
      gpt("megatron-310.1b", 96, 16384, 128, 51200, 2048),
      gpt("megatron-529.6b", 105, 20480, 128, 51200, 2048),
      gpt("megatron-1008b", 128, 25600, 160, 51200, 2048),
  };
  return all;
}

}  // namespace prediction

// SPDX-License-Identifier: BSL-1.0
// dimwise/models/decoders/deepseek.hpp -- DeepSeek-V2 and V3: keys and values from a latent vector, experts that are
// chosen from groups, and experts that all positions share.
//
// Layer: models. The layers of V3 that predict further tokens are not read.
// Tests: tests/models/decoders/deepseek.test.cpp
#pragma once

#include <dimwise/models/decoder/decoder_plan.hpp>

#include <cmath>

namespace dimwise::models::architectures {

namespace detail {

struct deepseek_defaults {
  expert_keys experts{};
  std::size_t shared = 1;
  std::size_t first_sparse = 0;
  std::size_t longest = 2048;
};

// The scale of scores grows with the logarithm of YaRN's factor.
inline double deepseek_score_scale(io::config_check& c, const decoder_config& to) {
  const double usual = 1 / std::sqrt(static_cast<double>(to.d_k));
  const io::config_check scaling = models::detail::rotary_object(c, "");
  if (!scaling.has("mscale_all_dim")) { return usual; }
  io::config_check again = scaling;  // `read_rotary` records what is wrong with it
  const std::string kind = models::detail::rotary_kind(again);
  if (kind != "yarn" || models::detail::is_longrope(kind, scaling)) {
    c.differs(scaling.title() + ": mscale_all_dim is read with the type yarn alone");
    return usual;
  }
  const double by = again.number("mscale_all_dim");
  const double factor = yarn_of(again, static_cast<double>(to.longest)).factor;
  const double more = factor > 1 ? 0.1 * by * std::log(factor) + 1 : 1;
  return more * more * usual;
}

inline decoder_plan deepseek_plan(io::config_check& c, const deepseek_defaults& defaults) {
  decoder_plan plan = read_usual(c, {.divided = false, .longest = defaults.longest});
  decoder_config& to = plan.config;
  to.d_rotated = c.count("qk_rope_head_dim", 64);
  to.d_k = c.count("qk_nope_head_dim", 128) + to.d_rotated;
  to.d_v = c.count("v_head_dim", 128);
  to.latent = c.count("kv_lora_rank", 512);
  to.query_latent = whole_number(c, "q_lora_rank", 1536, null_setting::is_zero);
  if (to.group != 1) { c.differs("num_key_value_heads is not num_attention_heads"); }
  to.input_bias = to.output_bias = c.flag("attention_bias", false);
  to.rotary = {read_rotary(c, to.d_rotated, {.longest = defaults.longest})};
  to.score_scale = deepseek_score_scale(c, to);

  read_experts(c, to, defaults.experts, whole_number(c, "first_k_dense_replace", defaults.first_sparse));
  to.shared_hidden = to.expert_hidden * whole_number(c, "n_shared_experts", defaults.shared, null_setting::is_zero);
  to.shared_gate = false;
  to.expert_scale = c.number("routed_scaling_factor", 1);
  c.expect_count("moe_layer_freq", 1);
  plan.names.shared_expert = "mlp.shared_experts.";
  return plan;
}
// The groups of experts.
inline void read_expert_groups(io::config_check& c, decoder_config& to, std::size_t groups, std::size_t chosen) {
  to.expert_groups = c.count("n_group", groups);
  to.chosen_groups = c.count("topk_group", chosen);
  if (to.experts % to.expert_groups != 0 || to.chosen_groups > to.expert_groups ||
      to.chosen_groups * (to.experts / to.expert_groups) < to.chosen_experts) {
    c.differs(std::to_string(to.chosen_groups) + " of " + std::to_string(to.expert_groups) + " equal groups of " +
              std::to_string(to.experts) + " experts do not have " + std::to_string(to.chosen_experts));
  }
}

}  // namespace detail

/// DeepseekV2ForCausalLM: experts by softmax, from the groups with the likeliest experts.
[[nodiscard]] inline decoder_plan deepseek_v2(io::config_check& c) {
  decoder_plan plan = detail::deepseek_plan(c, {.experts = {"n_routed_experts", 64, 6, 1407}, .shared = 2});
  decoder_config& to = plan.config;
  to.rotary.front().pairs = rotary_pairs::interleaved;
  to.renormalised = false;
  c.expect_flag("norm_topk_prob", false, false);
  c.expect_word("scoring_func", {"softmax"}, "softmax");
  c.expect_word("topk_method", {"greedy", "group_limited_greedy"}, "greedy");
  if (c.word("topk_method", "greedy") != "greedy") { detail::read_expert_groups(c, to, 1, 1); }
  return plan;
}

/// DeepseekV3ForCausalLM: experts by sigmoid with a correction that only chooses, from the groups with the largest sum
/// of two.
[[nodiscard]] inline decoder_plan deepseek_v3(io::config_check& c) {
  decoder_plan plan = detail::deepseek_plan(
      c, {.experts = {"n_routed_experts", 256, 8, 2048}, .shared = 1, .first_sparse = 3, .longest = 4096});
  decoder_config& to = plan.config;
  const bool interleaved = c.flag("rope_interleave", true);
  to.rotary.front().pairs = interleaved ? rotary_pairs::interleaved : rotary_pairs::half_split;
  to.renormalised = c.flag("norm_topk_prob", true);
  to.expert_scale = c.number("routed_scaling_factor", 2.5);
  to.experts_by_sigmoid = true;
  c.expect_word("scoring_func", {"sigmoid"}, "sigmoid");
  c.expect_word("topk_method", {"noaux_tc"}, "noaux_tc");
  detail::read_expert_groups(c, to, 8, 4);
  const std::size_t further = whole_number(c, "num_nextn_predict_layers", 0);
  for (std::size_t i = 0; i < std::min<std::size_t>(further, 64); ++i) {
    const std::string layer = "layers." + std::to_string(to.layers.size() + i) + ".";
    plan.names.other_parts.insert(plan.names.other_parts.end(), {layer, "model." + layer});
  }
  return plan;
}

/// The entries of `known_decoders`.
inline decoder_architectures deepseek_list() {
  return {
      {"deepseek_v2", deepseek_v2, "DeepSeek-V2", "`norm_topk_prob`"},
      {"deepseek_v3", deepseek_v3, "DeepSeek-V3", "the layers of `num_nextn_predict_layers` are ignored"},
  };
}

}  // namespace dimwise::models::architectures

// tests/ranks/decoders/drawn_decoder.hpp -- decoders of every kind with drawn parameters, as files, and their logits.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "io/support.hpp"
#include <dimwise/models/decoders.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace drawn_decoder {

using namespace dimwise;
using model_type = models::decoder<>;
using token = model_type::token;

// Four layers each: grouped heads, an output of its own; tied tables and learned positions; embeddings of another
// width; ALiBi and a norm of embeddings; windows in some layers; norms on both sides, capped scores and logits; a
// mixture of experts in some layers; angles of long texts, which begin at position 9.
inline const char* const families[] = {
    R"({"model_type":"llama","vocab_size":20,"hidden_size":16,"intermediate_size":24,"num_hidden_layers":4,
        "num_attention_heads":4,"num_key_value_heads":2})",
    R"({"model_type":"gpt2","vocab_size":20,"n_embd":16,"n_head":4,"n_layer":4,"n_positions":32})",
    R"({"model_type":"opt","vocab_size":20,"hidden_size":16,"word_embed_proj_dim":8,"ffn_dim":24,"num_hidden_layers":4,
        "num_attention_heads":4,"max_position_embeddings":32,"do_layer_norm_before":false})",
    R"({"model_type":"bloom","vocab_size":20,"hidden_size":16,"n_layer":4,"n_head":4})",
    R"({"model_type":"gemma3_text","vocab_size":20,"hidden_size":16,"intermediate_size":24,"num_hidden_layers":4,
        "num_attention_heads":2,"num_key_value_heads":1,"head_dim":8,"sliding_window":3,"sliding_window_pattern":2})",
    R"({"model_type":"gemma2","vocab_size":20,"hidden_size":16,"intermediate_size":24,"num_hidden_layers":4,
        "num_attention_heads":2,"num_key_value_heads":1,"head_dim":8,"sliding_window":3,"query_pre_attn_scalar":8,
        "attn_logit_softcapping":50,"final_logit_softcapping":30})",
    R"({"model_type":"qwen2_moe","vocab_size":20,"hidden_size":16,"intermediate_size":24,"moe_intermediate_size":12,
        "shared_expert_intermediate_size":20,"num_hidden_layers":4,"num_attention_heads":4,"num_key_value_heads":2,
        "num_experts":3,"num_experts_per_tok":2,"mlp_only_layers":[1]})",
    R"({"model_type":"phi3","vocab_size":20,"hidden_size":16,"intermediate_size":24,"num_hidden_layers":4,
        "num_attention_heads":4,"max_position_embeddings":32,"original_max_position_embeddings":8,
        "rope_scaling":{"type":"longrope","short_factor":[1,1],"long_factor":[2,4]},"pad_token_id":0})",
};

// A model of these settings with drawn parameters, as a file.
inline io::config_check write_drawn(const std::string& text, const std::filesystem::path& path) {
  io::config_check settings(nlohmann::json::parse(text), "config.json");
  const models::decoder_plan plan = models::plan_decoder(settings);
  model_type m(plan.config);
  std::apply([&](const auto&... extents) {
    nn::normal how(7, 0.3);
    nn::initialise(m, how, extents...);
    io::bindings file(extents...);
    models::bind_decoder(file, plan.names, m);
    io::save(m, path, file);
  }, models::decoder_extents<models::decoder_dims>(plan.config));
  return settings;
}

inline std::vector<float> values_of(const auto& x) { return {x.values().begin(), x.values().end()}; }
inline const std::vector<token> prompt{token{1}, token{5}, token{3}, token{19}, token{5}, token{2}, token{7}};

// The logits after the prompt and after each of five more tokens.
template <class Model, class State>
std::vector<std::vector<float>> logits_of(Model& model, State caches) {
  std::vector<std::vector<float>> all;
  if constexpr (requires { model.read(prompt, caches); }) {
    model.read(std::span(prompt).first(3), caches);
  } else {
    (void)model.features(std::span(prompt).first(3), caches);
  }
  all.push_back(values_of(model.next(std::span(prompt).subspan(3), caches)));
  for (std::size_t i = 0; i < 5; ++i) {
    const token next{3 * i + 1};
    all.push_back(values_of(model.next(std::span(&next, 1), caches)));
  }
  return all;
}

// f(settings, file, whole model, its logits, count) for every kind of decoder and 1, 2 and 4 ranks.
template <class F>
void each_kind_and_count(const F& f) {
  const dimwise_test::temporary_folder folder;
  for (const char* family : families) {
    CAPTURE(family);
    const io::config_check settings = write_drawn(family, folder / "model.safetensors");
    const io::archive file = io::read_safetensors(folder / "model.safetensors");
    const auto whole = models::read_decoder(settings, file);
    const auto expected = logits_of(whole, whole.start(24));
    for (const std::size_t count : {1U, 2U, 4U}) {
      CAPTURE(count);
      f(settings, file, whole, expected, count);
    }
  }
}

}  // namespace drawn_decoder

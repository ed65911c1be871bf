// tests/models/decoders/with_images.test.cpp -- the text models of checkpoints that also read images: the cases of the
// suite `architectures_decoders`, and LLaMA of `lm`, under the names and settings of such checkpoints have the same
// logits.
// SPDX-License-Identifier: BSL-1.0
#include "models/support.hpp"
#include <dimwise/models/decoders.hpp>

#include <doctest/doctest.h>

#include <functional>
#include <vector>

using namespace dimwise;

namespace {

using decoder = models::decoder<>;
using token = decoder::token;
using json = nlohmann::json;

// A case of the suite, and the arrays of its file under other names, beside an array of images.
struct text_case {
  explicit text_case(const std::string& name, const std::string& suite = "architectures_decoders.dwpack")
      : files(name, suite) {}

  [[nodiscard]] json settings() const { return json::parse(files.text("config.json")); }
  [[nodiscard]] io::archive renamed(const std::function<std::string(const std::string&)>& rename,
                                    const std::string& image) const {
    static const std::vector<std::byte> zeros(16);
    io::archive made("renamed");
    const io::archive from = io::read_safetensors(files / "model.safetensors");
    for (const auto& memory : from.memory()) { made.keep(memory); }
    for (io::stored_array a : from.arrays()) {
      a.name = rename(a.name);
      made.add(a);
    }
    made.add({image, io::element_type::f32, {4}, zeros});
    return made;
  }
  // The largest difference from the logits in float64.
  [[nodiscard]] double error_of(const decoder& m) const { return dimwise_test::prompt_error(m, files, "2"); }

  dimwise_test::model_folder files;
};

std::string replaced(const std::string& name, const std::string& from, const std::string& to) {
  return name.starts_with(from) ? to + name.substr(from.size()) : name;
}
// The names of transformers before 4.52, and since.
std::string old_name(const std::string& name) { return "language_model." + name; }
std::string new_name(const std::string& name) { return replaced(name, "model.", "model.language_model."); }

// Settings with `text` as the part on texts.
json with_images(const std::string& kind, json text, const std::string& text_type) {
  text["model_type"] = text_type;
  return {{"model_type", kind}, {"text_config", std::move(text)}, {"vision_config", {{"hidden_size", 8}}}};
}
decoder read(const json& settings, const io::archive& weights) {
  return models::read_decoder(io::config_check(settings, "config.json"), weights);
}
std::string said(const json& settings) {
  return dimwise_test::message([&] { (void)models::plan_decoder(io::config_check(settings, "config.json")); });
}

// The tolerance of the suite's cases: rounding of float32.
constexpr double tolerance = 2e-4;

}  // namespace

TEST_CASE(
    "Gemma 3 and Mistral Small 3 with images have the logits of their text models, by the names of both versions") {
  struct {
    const char* name;
    const char* kind;
    const char* text_type;
  } const cases[] = {{"gemma3_text", "gemma3", "gemma3_text"},
                     {"gemma3_text-v5", "gemma3", "gemma3_text"},
                     {"mistral", "mistral3", "mistral"}};
  for (const auto& one : cases) {
    CAPTURE(one.name);
    const text_case c(one.name);
    const json settings = with_images(one.kind, c.settings(), one.text_type);
    CHECK(c.error_of(read(settings, c.renamed(old_name, "vision_tower.patches.weight"))) < tolerance);
    CHECK(c.error_of(read(settings, c.renamed(old_name, "multi_modal_projector.weight"))) < tolerance);
    CHECK(c.error_of(read(settings, c.renamed(new_name, "model.vision_tower.patches.weight"))) < tolerance);
  }
}

TEST_CASE("Qwen-VL has the logits of its text model, whose rotary positions have sections that a text does not need") {
  for (const bool third : {false, true}) {
    const text_case c(third ? "qwen3" : "qwen2");
    json text = c.settings();
    // Settings of the three generations.
    text.erase("rope_parameters");
    text["rope_theta"] = 1e6;
    text["rope_scaling"] = {{"type", "mrope"}, {"mrope_section", {1, 1, 2}}};
    const auto old_qwen = [](const std::string& name) { return name; };
    if (third) {
      text["rope_scaling"]["mrope_interleaved"] = true;
      text["rope_scaling"]["rope_type"] = "default";
      text["rope_scaling"].erase("type");
      CHECK(c.error_of(read(with_images("qwen3_vl", text, "qwen3_vl_text"),
                            c.renamed(new_name, "model.visual.blocks.0.weight"))) < tolerance);
      continue;
    }
    for (const char* kind : {"qwen2_vl", "qwen2_5_vl"}) {
      json flat = text;
      flat["model_type"] = kind;
      CHECK(c.error_of(read(flat, c.renamed(old_qwen, "visual.blocks.0.weight"))) < tolerance);
      CHECK(c.error_of(read(with_images(kind, text, std::string(kind) + "_text"),
                            c.renamed(new_name, "model.visual.blocks.0.weight"))) < tolerance);
    }
  }
}

TEST_CASE("Idefics 3 and SmolVLM have the logits of their text model, a LLaMA") {
  const text_case c("tiny-llama", "lm.dwpack");
  const auto logits_of = [&](const decoder& m) {
    auto past = m.start(64);
    const auto logits = m.logits(m.features(c.files.ids<token>("prompt.2.input_ids"), past));
    return std::vector<float>(logits.values().begin(), logits.values().end());
  };
  const std::vector<float> expected = logits_of(models::read_decoder(c.files.path()));
  const auto renamed = [](const std::string& name) { return replaced(name, "model.", "model.text_model."); };
  for (const char* kind : {"idefics3", "smolvlm"}) {
    const json settings = with_images(kind, c.settings(), "llama");
    for (const char* image :
         {"model.vision_model.post_layernorm.weight", "model.connector.modality_projection.weight"}) {
      CHECK(logits_of(read(settings, c.renamed(renamed, image))) == expected);
    }
    json other = settings;
    other["text_config"]["model_type"] = "mistral";
    CHECK(said(other).find("text_config: model_type is \"mistral\"") != std::string::npos);
  }
}

TEST_CASE("absent settings of a text model have the defaults of its class, or what the folder says beside it") {
  const json short_settings = json::parse(R"({"model_type":"gemma3","text_config":{"model_type":"gemma3_text",
      "hidden_size":2560,"sliding_window":1024}})");
  const auto plan = models::plan_decoder(io::config_check(short_settings, "config.json")).config;
  CHECK(plan.vocab == 262208);
  CHECK(plan.kv_heads * plan.group == 8);
  CHECK(plan.kv_heads == 4);
  CHECK(plan.d_k == 256);
  CHECK(plan.longest == 131072);
  CHECK(plan.tied);
  json qwen = json::parse(R"({"model_type":"qwen2_5_vl","tie_word_embeddings":true,"text_config":{"vocab_size":20,
      "hidden_size":16,"intermediate_size":24,"num_hidden_layers":2,"num_attention_heads":8}})");
  const auto tied = models::plan_decoder(io::config_check(qwen, "config.json")).config;
  CHECK(tied.tied);
  CHECK(tied.kv_heads == 8);
  CHECK(tied.norm.epsilon == 1e-5);
  qwen["text_config"]["tie_word_embeddings"] = false;
  CHECK_FALSE(models::plan_decoder(io::config_check(qwen, "config.json")).config.tied);
}

TEST_CASE("text models without the causal mask have windows to both sides, wherever the folder says so") {
  const json text = json::parse(R"({"model_type":"qwen2_vl","vocab_size":20,"hidden_size":16,"intermediate_size":24,
      "num_hidden_layers":2,"num_attention_heads":8,"sliding_window":4,"use_sliding_window":true,
      "layer_types":["sliding_attention","full_attention"]})");
  const auto with = [](json settings, bool causal) {
    settings["is_causal"] = causal;
    return settings;
  };
  const auto check = [](const json& settings, bool bidirectional) {
    CAPTURE(settings.dump());
    const auto plan = models::plan_decoder(io::config_check(settings, "config.json")).config;
    CHECK(plan.bidirectional == bidirectional);
    // Four positions to each side, and the query's own; or four with the query's own.
    CHECK(plan.layers.at(0).window == (bidirectional ? 5 : 4));
    CHECK(plan.layers.at(1).window == 0);
  };
  for (const bool causal : {false, true}) {
    check(with(text, causal), !causal);
    for (const bool also : {false, true}) {
      check(with(with_images("qwen2_vl", with(text, also), "qwen2_vl"), causal), !causal || !also);
    }
    check(with_images("qwen2_vl", with(text, causal), "qwen2_vl"), !causal);
  }
}

TEST_CASE("text models that are not read are rejected by name, and unknown arrays too") {
  json mistral = json::parse(R"({"model_type":"mistral3","text_config":{"model_type":"ministral3","vocab_size":20,
      "hidden_size":16,"intermediate_size":24,"num_hidden_layers":2,"num_attention_heads":8}})");
  CHECK(said(mistral).find("text_config: model_type is \"ministral3\"") != std::string::npos);
  mistral["text_config"] = 3;
  CHECK(said(mistral).find("text_config is 3, an object was expected") != std::string::npos);
  mistral["quantization_config"] = {{"bits", 4}};
  CHECK(said(mistral).find("quantization_config is set") != std::string::npos);
  const text_case c("mistral");
  const std::string why = dimwise_test::message(
      [&] { (void)read(with_images("mistral3", c.settings(), "mistral"), c.renamed(old_name, "audio_tower.weight")); });
  CHECK(why.find("\"audio_tower.weight\" (F32 [4]) is not expected") != std::string::npos);
}

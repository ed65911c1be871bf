// tests/models/decoders/decoder.test.cpp -- decoders whose settings are data: read as the typed models are, written and
// read again with other settings of their families, and rejected where a setting is not read. SPDX-License-Identifier:
// BSL-1.0
#include "models/support.hpp"
#include <dimwise/models/decoders.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <deque>
#include <fstream>
#include <iterator>

using namespace dimwise;

namespace {

using model_type = models::decoder<>;
using token = model_type::token;

// Settings of each family that the suite `architectures_decoders` has no case of.
const char* const families[] = {
    R"({"model_type":"opt","vocab_size":20,"hidden_size":16,"word_embed_proj_dim":8,"ffn_dim":24,"num_hidden_layers":2,
        "num_attention_heads":4,"max_position_embeddings":32,"do_layer_norm_before":false})",
    R"({"model_type":"opt","vocab_size":20,"hidden_size":16,"word_embed_proj_dim":8,"ffn_dim":24,"num_hidden_layers":2,
        "num_attention_heads":4,"max_position_embeddings":32,"tie_word_embeddings":false,"enable_bias":false,
        "layer_norm_elementwise_affine":false})",
    R"({"model_type":"stablelm","vocab_size":20,"hidden_size":32,"intermediate_size":24,"num_hidden_layers":2,
        "num_attention_heads":4,"num_key_value_heads":2,"hidden_act":"silu","qk_layernorm":true,
        "use_parallel_residual":true})",
    R"({"model_type":"cohere","vocab_size":20,"hidden_size":32,"intermediate_size":24,"num_hidden_layers":2,
        "num_attention_heads":4,"num_key_value_heads":2,"use_qk_norm":true,"attention_bias":true})",
    R"({"model_type":"phi","vocab_size":20,"hidden_size":32,"intermediate_size":24,"num_hidden_layers":2,
        "num_attention_heads":4,"qk_layernorm":true,"tie_word_embeddings":true})",
    R"({"model_type":"bloom","vocab_size":20,"hidden_size":16,"n_layer":2,"n_head":4,
        "apply_residual_connection_post_layernorm":true})",
    R"({"model_type":"falcon","vocab_size":20,"hidden_size":16,"num_hidden_layers":2,"num_attention_heads":4,
        "new_decoder_architecture":true,"num_kv_heads":2,"num_ln_in_parallel_attn":1})",
    R"({"model_type":"falcon","vocab_size":20,"hidden_size":16,"num_hidden_layers":2,"num_attention_heads":4,
        "multi_query":true,"alibi":true,"parallel_attn":false,"bias":true})",
    R"({"model_type":"gpt_bigcode","vocab_size":20,"n_embd":16,"n_head":4,"n_layer":2,"n_positions":32,
        "multi_query":false})",
    R"({"model_type":"gpt2","vocab_size":20,"n_embd":16,"n_head":4,"n_layer":2,"n_positions":32,
        "scale_attn_weights":false,"tie_word_embeddings":false})",
    R"({"model_type":"gpt_neox","vocab_size":20,"hidden_size":32,"intermediate_size":24,"num_hidden_layers":2,
        "num_attention_heads":4,"use_parallel_residual":false,"attention_bias":false,"tie_word_embeddings":true})",
    R"({"model_type":"qwen3_moe","vocab_size":20,"hidden_size":16,"intermediate_size":24,"moe_intermediate_size":12,
        "num_hidden_layers":4,"num_attention_heads":4,"num_key_value_heads":2,"head_dim":8,"num_experts":3,
        "num_experts_per_tok":2,"decoder_sparse_step":2,"mlp_only_layers":[3]})",
    R"({"model_type":"qwen2_moe","vocab_size":20,"hidden_size":16,"intermediate_size":24,"moe_intermediate_size":12,
        "shared_expert_intermediate_size":20,"num_hidden_layers":4,"num_attention_heads":4,"num_key_value_heads":2,
        "num_experts":3,"num_experts_per_tok":2,"mlp_only_layers":[1],"use_sliding_window":true,"sliding_window":3,
        "max_window_layers":2})",
    R"({"model_type":"gemma3_text","vocab_size":20,"hidden_size":16,"intermediate_size":24,"num_hidden_layers":4,
        "num_attention_heads":2,"num_key_value_heads":1,"head_dim":8,"sliding_window":3,"sliding_window_pattern":2,
        "rope_scaling":{"rope_type":"linear","factor":8}})",
    R"({"model_type":"granite","vocab_size":20,"hidden_size":16,"intermediate_size":24,"num_hidden_layers":2,
        "num_attention_heads":4,"attention_bias":true,"mlp_bias":true,"attention_multiplier":0.2})",
};

io::config_check settings(const std::string& text) { return {nlohmann::json::parse(text), "config.json"}; }

// What reading these settings says.
std::string said(const std::string& text, const models::decoder_architectures& more = {}) {
  try {
    (void)models::plan_decoder(settings(text), more);
  } catch (const io::file_error& e) { return e.what(); }
  return "";
}
bool says(const std::string& text, const std::string& part) { return said(text).find(part) != std::string::npos; }

// LLaMA's settings with these in addition.
std::string llama_with(const std::string& more) {
  return R"({"model_type":"llama","vocab_size":20,"hidden_size":16,"intermediate_size":24,"num_hidden_layers":2,
             "num_attention_heads":4)" +
         (more.empty() ? "" : "," + more) + "}";
}

model_type drawn(const models::decoder_plan& plan) {
  model_type m(plan.config);
  nn::normal how(7, 0.3);
  std::apply([&](const auto&... extents) { nn::initialise(m, how, extents...); },
             models::decoder_extents<models::decoder_dims>(plan.config));
  return m;
}
std::string written(model_type m, const models::decoder_plan& plan, const std::filesystem::path& path) {
  std::apply([&](const auto&... extents) {
    io::bindings file(extents...);
    models::bind_decoder(file, plan.names, m);
    io::save(m, path, file);
  }, models::decoder_extents<models::decoder_dims>(plan.config));
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

double distance(std::span<const float> a, std::span<const float> b) {
  REQUIRE(a.size() == b.size());
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    REQUIRE(std::isfinite(a[i]));
    most = std::max(most, static_cast<double>(std::abs(a[i] - b[i])));
  }
  return most;
}

}  // namespace

TEST_CASE("folders of GPT-2 and LLaMA are continued as the suite expects") {
  for (const char* name : {"tiny-gpt2", "tiny-llama"}) {
    CAPTURE(name);
    const dimwise_test::model_folder folder(name);
    const auto model = models::read_decoder(folder.path());
    auto past = model.start(64);
    const auto expected = folder.ids<token>("prompt.2.greedy_ids");
    CHECK(models::generate_greedy(model, folder.ids<token>("prompt.2.input_ids"), expected.size(), past) == expected);
  }
}

TEST_CASE("shards whose arrays have different types are read as one file of floats") {
  const dimwise_test::model_folder folder("tiny-llama");
  const io::archive from = io::read_safetensors(folder / "model.safetensors");
  std::deque<std::vector<std::byte>> memory;
  const auto append = [](std::vector<std::byte>& to, const auto& value) {
    const auto* const first = reinterpret_cast<const std::byte*>(&value);
    to.insert(to.end(), first, first + sizeof(value));
  };
  std::vector<io::stored_array> shards[2];
  std::vector<io::stored_array> whole;
  nlohmann::json index{{"weight_map", nlohmann::json::object()}};
  for (const io::stored_array& a : from.arrays()) {
    const std::size_t number = whole.size();
    std::vector<std::byte>& bytes = memory.emplace_back();
    std::vector<std::byte>& floats = memory.emplace_back();
    for (std::size_t i = 0; i < a.bytes.size(); i += sizeof(float)) {
      float value = 0;
      std::memcpy(&value, a.bytes.data() + i, sizeof value);
      const bfloat16 short_value(value);
      const float16 half_value(value);
      number % 3 == 0 ? append(bytes, short_value) : number % 3 == 1 ? append(bytes, half_value) : append(bytes, value);
      append(floats, number % 3 == 0   ? static_cast<float>(short_value)
                     : number % 3 == 1 ? static_cast<float>(half_value)
                                       : value);
    }
    using enum io::element_type;
    const io::element_type types[] = {bf16, f16, f32};
    shards[number % 2].push_back({a.name, types[number % 3], a.extents, bytes});
    whole.push_back({a.name, f32, a.extents, floats});
    index["weight_map"][a.name] = number % 2 == 0 ? "first.safetensors" : "second.safetensors";
  }
  io::write_safetensors(folder / "model.safetensors", whole);
  const auto logits = [&] {
    const auto m = models::read_decoder(folder.path());
    auto past = m.start(64);
    return m.next(folder.ids<token>("prompt.2.input_ids"), past);
  };
  const auto expected = logits();
  std::filesystem::remove(folder / "model.safetensors");
  io::write_safetensors(folder / "first.safetensors", shards[0]);
  io::write_safetensors(folder / "second.safetensors", shards[1]);
  folder.write("model.safetensors.index.json", index.dump());
  const auto found = logits();
  CHECK(distance(expected.values(), found.values()) == 0);
}

TEST_CASE("settings of every family are written and read again, at once and token by token") {
  const dimwise_test::temporary_folder folder;
  const std::vector<token> text{token{1}, token{5}, token{3}, token{19}, token{5}, token{2}};
  for (const char* family : families) {
    CAPTURE(family);
    const models::decoder_plan plan = models::plan_decoder(settings(family));
    const model_type m = drawn(plan);
    const std::string bytes = written(m, plan, folder / "model.safetensors");
    const auto read = models::read_decoder(settings(family), io::read_safetensors(folder / "model.safetensors"));
    auto past = m.start(16);
    const auto expected = m.logits(m.features(text, past));
    auto other = read.start(16);
    const auto found = read.logits(read.features(text, other));
    CHECK(distance(expected.values(), found.values()) == 0);
    CHECK(written(read, plan, folder / "again.safetensors") == bytes);
    for (const auto& block : read.blocks) {  // norms of heads are joined when they are read
      CHECK(block.attention.query_norm.shared.size() <= 1);
      CHECK(block.attention.key_norm.shared.size() <= 1);
    }
    auto slowly = read.start(16);
    for (std::size_t i = 0; i < text.size(); ++i) {
      const auto one = read.logits(read.features(std::span(&text[i], 1), slowly));
      CHECK(distance(one.values(), found.values().subspan(i * one.size(), one.size())) < 1e-4);
    }
  }
}

TEST_CASE("settings that change the result and are not read are rejected") {
  CHECK(said(llama_with("")).empty());
  CHECK(says(R"({"model_type":"mamba"})",
             "model_type is \"mamba\"; the types that are read are bloom, cohere, cohere2, deepseek_v2"));
  CHECK(says(llama_with(R"("quantization_config":{"bits":4})"), "quantization_config is set"));
  CHECK(says(llama_with(R"("hidden_act":"mish")"), "hidden_act is \"mish\"; the activations that are read are relu"));
  CHECK(says(llama_with(R"("rope_scaling":{"rope_type":"ntk","factor":2})"),
             "rope_scaling: the type is \"ntk\"; the types that are read are default, linear, dynamic, llama3, yarn"));
  CHECK(says(llama_with(R"("rope_scaling":{"rope_type":"default","mrope_section":[1,2]})"),
             "rope_scaling: mrope_section is a setting that is not read"));
  CHECK(says(llama_with(R"("rope_scaling":{"rope_type":"longrope","short_factor":[1],"long_factor":[1,2]})"),
             "short_factor has 1 numbers, 2 were expected"));
  CHECK(says(llama_with(R"("head_dim":1099511627776)"), "turn 1099511627776 features of a head, at most 65536 are"));
  CHECK(dimwise_test::message([] {
    (void)models::read_decoder(
        settings(R"({"model_type":"stablelm","vocab_size":20,"hidden_size":1099511627776,"intermediate_size":24,
                  "num_hidden_layers":1,"num_attention_heads":1099511627776,"qk_layernorm":true,
                  "partial_rotary_factor":0})"),
        io::parse_safetensors(dimwise_test::bytes_of_text(dimwise_test::safetensors_bytes(
                                  R"({"a":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},
                                            "b":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},
                                            "c":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}})")),
                              "x"));
  }).find("there are norms of 1099511627776 heads, but x has 3 arrays") != std::string::npos);
  CHECK(says(llama_with(R"("num_key_value_heads":3)"), "4 query heads are not divisible by 3 key heads"));
  CHECK(says(llama_with(R"("num_hidden_layers":1000000)"), "at most 4096 are read"));
  const std::string smollm3 = R"({"model_type":"smollm3","vocab_size":20,"hidden_size":16,"intermediate_size":24,
      "num_hidden_layers":2,"num_attention_heads":4,)";
  CHECK(says(smollm3 + R"("layer_types":["full_attention"]})", "layer_types has 1 entries, 2 were expected"));
  CHECK(says(smollm3 + R"("layer_types":["full_attention","chunked_attention"]})",
             "layer_types has \"chunked_attention\""));
  CHECK(says(R"({"model_type":"falcon","vocab_size":20,"hidden_size":16,"num_hidden_layers":2,"num_attention_heads":4,
                 "new_decoder_architecture":true,"parallel_attn":false})",
             "do not fit"));
}

TEST_CASE("an architecture of the user's own comes before the known ones") {
  const auto read = [](io::config_check& c) {
    models::decoder_plan plan = models::read_usual(c);
    plan.config.parallel = plan.config.single_norm = true;
    models::read_rotary_of_all(c, plan.config);
    return plan;
  };
  const models::decoder_architectures more{{"mine", read}, {"llama", read}};
  CHECK(models::plan_decoder(settings(llama_with("")), more).config.parallel);
  CHECK_FALSE(models::plan_decoder(settings(llama_with(""))).config.parallel);
  CHECK(said(R"({"model_type":"mamba"})", more).find("are read are mine, llama, bloom") != std::string::npos);
}

TEST_CASE("a shared expert is added to the chosen ones, weighted by its gate") {
  using dims = models::decoder_dims;
  using mixture = model_type::block::mixture_type;
  constexpr std::size_t width = 6;
  constexpr std::size_t hidden = 5;
  mixture all;
  const models::feed_settings feed{models::activation_kind::relu, true, false};
  all.experts.assign(3, mixture::expert_type(feed));
  all.settings = {2, false};
  all.shared.emplace_back(feed);
  all.gate.resize(1);
  nn::normal how(3, 0.7);
  nn::initialise(all, how, dims::d_model{width}, dims::experts{3}, dims::expert_hidden{4}, dims::shared_hidden{hidden});
  mixture chosen = all;
  chosen.shared.clear();
  chosen.gate.clear();
  std::vector<float> numbers;
  for (std::size_t i = 0; i < 4 * width; ++i) { numbers.push_back(static_cast<float>(i % 7) * 0.3F - 0.8F); }
  const tensor<float, dims::seq, dims::d_model> x(std::span<const float>(numbers), dims::seq{4}, dims::d_model{width});
  const auto found = all(x);
  const auto routed = chosen(x);
  const auto& shared = all.shared.front();
  // Weights are [inputs, outputs] in memory.
  const auto product = [](std::span<const float> w, std::size_t outputs, const std::vector<double>& in, std::size_t o) {
    double sum = 0;
    for (std::size_t i = 0; i < in.size(); ++i) { sum += in[i] * static_cast<double>(w[i * outputs + o]); }
    return sum;
  };
  for (std::size_t p = 0; p < 4; ++p) {
    const std::vector<double> in(numbers.begin() + static_cast<std::ptrdiff_t>(p * width),
                                 numbers.begin() + static_cast<std::ptrdiff_t>((p + 1) * width));
    std::vector<double> h;
    for (std::size_t i = 0; i < hidden; ++i) {
      h.push_back(std::max(product(shared.gate.front().weight.values(), hidden, in, i), 0.0) *
                  product(shared.up.weight.values(), hidden, in, i));
    }
    const double share = 1 / (1 + std::exp(-product(all.gate.front().weight.values(), 1, in, 0)));
    for (std::size_t f = 0; f < width; ++f) {
      const double expected = static_cast<double>(routed.values()[p * width + f]) +
                              share * product(shared.down.weight.values(), width, h, f);
      CHECK(static_cast<double>(found.values()[p * width + f]) == doctest::Approx(expected).epsilon(1e-5));
    }
  }
}

TEST_CASE("the windows of Qwen 2's mixture are in every second layer before max_window_layers") {
  const auto plan = models::plan_decoder(settings(
      R"({"model_type":"qwen2_moe","vocab_size":20,"hidden_size":16,"intermediate_size":24,"num_hidden_layers":6,
          "num_attention_heads":4,"num_key_value_heads":2,"use_sliding_window":true,"sliding_window":7,
          "max_window_layers":4,"qkv_bias":false})"));
  std::vector<std::size_t> windows;
  for (const auto& layer : plan.config.layers) { windows.push_back(layer.window); }
  CHECK(windows == std::vector<std::size_t>{7, 0, 7, 0, 0, 0});
  CHECK(plan.config.experts == 60);
  CHECK(plan.config.shared_hidden == 5632);
  CHECK_FALSE(plan.config.input_bias);
}

TEST_CASE("a text that outgrows LongRoPE's positions has the logits of the long text") {
  const std::string text = llama_with(R"("max_position_embeddings":16,"original_max_position_embeddings":4,
      "rope_scaling":{"rope_type":"longrope","short_factor":[1,1],"long_factor":[3,5]})");
  const model_type m = drawn(models::plan_decoder(settings(text)));
  const std::vector<token> ids{token{1}, token{5}, token{3}, token{19}, token{5}, token{2}};
  auto past = m.start(16);
  const auto whole = m.next(ids, past);
  auto slowly = m.start(16);
  (void)m.next(std::span(ids).first(3), slowly);
  (void)m.next(std::span(ids).subspan(3, 1), slowly);
  (void)m.next(std::span(ids).subspan(4, 1), slowly);
  const auto last = m.next(std::span(ids).subspan(5, 1), slowly);
  CHECK(distance(whole.values(), last.values()) < 1e-5);
}

TEST_CASE("dynamic NTK turns a long text by the base that grows with its length") {
  // Heads of 4 features: the base times growth^2; 12 positions of 8 with the factor 2: growth is 2 * 12 / 8 - 1 = 2.
  const std::string dynamic = R"("rope_scaling":{"rope_type":"dynamic","factor":2},"max_position_embeddings":8)";
  const auto logits = [](const std::string& more, std::size_t length) {
    const model_type m = drawn(models::plan_decoder(settings(llama_with(more))));
    std::vector<token> ids;
    for (std::size_t i = 0; i < length; ++i) { ids.emplace_back((7 * i + 3) % 20); }
    auto past = m.start(16);
    return m.next(ids, past);
  };
  const auto turned = logits(dynamic, 12);
  const auto by_base = logits(R"("rope_theta":40000)", 12);
  const auto by_default = logits("", 12);
  CHECK(distance(turned.values(), by_base.values()) < 1e-6);  // rounding of angles
  CHECK(distance(turned.values(), by_default.values()) > 1e-4);
  const auto trained = logits(dynamic, 8);
  const auto as_trained = logits("", 8);
  CHECK(distance(trained.values(), as_trained.values()) == 0);
  // The parts of a longer prompt would each have the base of their own end.
  const model_type m = drawn(models::plan_decoder(settings(llama_with(dynamic))));
  CHECK(m.reads_whole(9));
  CHECK_FALSE(m.reads_whole(8));
  CHECK_FALSE(drawn(models::plan_decoder(settings(llama_with("")))).reads_whole(4000));
  CHECK(says(llama_with(R"("head_dim":2,)" + dynamic), "the type dynamic needs more than one pair of features"));
  CHECK(says(llama_with(R"("rope_scaling":{"rope_type":"dynamic"})"), "factor"));
}

TEST_CASE("scale_attn_by_inverse_layer_idx divides the scores of layer i by i + 1") {
  const auto read = [](const std::string& more) {
    return models::plan_decoder(settings(
        R"({"model_type":"gpt2","vocab_size":20,"n_embd":16,"n_head":4,"n_layer":3,"n_positions":32)" + more + "}"));
  };
  const model_type divided = drawn(read(R"(,"scale_attn_by_inverse_layer_idx":true)"));
  const model_type usual = drawn(read(""));
  model_type by_hand = usual;
  for (std::size_t i = 0; i < by_hand.blocks.size(); ++i) {
    auto& query = by_hand.blocks[i].attention.mapped.front().query;
    query.weight = query.weight / static_cast<float>(i + 1);
    query.bias.front() = query.bias.front() / static_cast<float>(i + 1);
  }
  const std::vector<token> ids{token{1}, token{5}, token{3}, token{19}, token{5}, token{2}};
  const auto logits = [&](const model_type& m) {
    auto past = m.start(16);
    return m.next(ids, past);
  };
  const auto found = logits(divided);
  const auto expected = logits(by_hand);
  const auto other = logits(usual);
  CHECK(distance(found.values(), expected.values()) < 1e-5);
  CHECK(distance(found.values(), other.values()) > 1e-3);
}

TEST_CASE("the table of the documentation lists every architecture") {
  std::ifstream page(dimwise_test::data_file("../../docs/reference/models.md"));
  REQUIRE(page);
  const std::string text{std::istreambuf_iterator<char>(page), {}};
  for (const auto& one : models::known_decoders()) {
    const std::string row = "| `" + one.model_type + "` | " + one.title + " | " + one.rejected + " |";
    CAPTURE(row);
    CHECK(text.find(row) != std::string::npos);
  }
}

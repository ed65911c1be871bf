// tests/ranks/pipeline.test.cpp -- decoders whose layers ranks divide, over threads (std::thread): the logits of one
// rank, bit for bit.
// SPDX-License-Identifier: BSL-1.0
#include "io/support.hpp"
#include "support/threads.hpp"
#include <dimwise/models/decoders.hpp>
#include <dimwise/ranks/pipeline.hpp>
#include <dimwise/ranks/threads.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <vector>

using namespace dimwise;

namespace {

using model_type = models::decoder<>;
using token = model_type::token;

// Four layers each: grouped heads, an output of its own; tied tables and learned positions; embeddings of another
// width; ALiBi and a norm of embeddings; windows in some layers; norms on both sides, capped scores and logits; a
// mixture of experts in some layers; angles of long texts, which begin at position 9.
const char* const families[] = {
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
io::config_check write_drawn(const std::string& text, const std::filesystem::path& path) {
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

std::vector<float> values_of(const auto& x) { return {x.values().begin(), x.values().end()}; }
const std::vector<token> prompt{token{1}, token{5}, token{3}, token{19}, token{5}, token{2}, token{7}};

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

}  // namespace

TEST_CASE("1, 2 and 4 ranks give the logits of one, for decoders of every kind, over threads" * support::threads) {
  const dimwise_test::temporary_folder folder;
  for (const char* family : families) {
    CAPTURE(family);
    const io::config_check settings = write_drawn(family, folder / "model.safetensors");
    const io::archive file = io::read_safetensors(folder / "model.safetensors");
    const auto whole = models::read_decoder(settings, file);
    const auto expected = logits_of(whole, whole.start(24));
    for (const std::size_t count : {1U, 2U, 4U}) {
      CAPTURE(count);
      ranks::run_threads(count, [&](const ranks::communicator& world) {
        ranks::pipeline model(models::read_decoder_run(settings, file, world.rank(), count), world);
        CHECK(model.part().blocks.size() < 5 - (count - 1));
        const auto found = logits_of(model, model.start(24));
        if (model.is_last()) {
          CHECK(found == expected);
        } else {
          CHECK(found.back().empty());
        }
        CHECK(model.chosen([&] { return token{17 + world.rank() - (count - 1)}; }).value == 17);
      }, {.checks = count == 2});
    }
  }
}

TEST_CASE("a rank has the parameters of its layers only") {
  const dimwise_test::temporary_folder folder;
  const io::config_check settings = write_drawn(families[1], folder / "model.safetensors");
  const io::archive file = io::read_safetensors(folder / "model.safetensors");
  const auto part = [&](std::size_t rank, std::size_t count) {
    return models::read_decoder_run(settings, file, rank, count);
  };
  const std::size_t all = nn::parameter_count(models::read_decoder(settings, file));
  std::size_t sum = 0;
  for (std::size_t r = 0; r < 4; ++r) { sum += nn::parameter_count(part(r, 4)); }
  CHECK(sum == all + 20 * 16);  // the first and the last rank have the table of tokens
  CHECK(part(1, 4).token_embedding.table.size() == 0);
  CHECK(part(1, 4).here.begin == 1);
  CHECK(dimwise_test::message([&] { (void)part(0, 5); }).find("4 layers and cannot be divided among 5 ranks") !=
        std::string::npos);
}

TEST_CASE("a rank reads the arrays of its layers only") {
  const dimwise_test::temporary_folder folder;
  const io::config_check settings = write_drawn(families[0], folder / "model.safetensors");
  const io::archive file = io::read_safetensors(folder / "model.safetensors");
  // Memory that ends the program if it is read.
  constexpr std::size_t size = std::size_t{1} << 16U;
  void* const forbidden = ::mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(forbidden != MAP_FAILED);
  const auto is_of = [](const std::string& name, std::size_t rank) {
    const std::size_t at = name.find("layers.");
    if (at != std::string::npos) { return name.substr(at + 7, 2) == std::to_string(rank) + "."; }
    return rank == (name.find("embed_tokens") != std::string::npos ? 0U : 3U);
  };
  for (std::size_t r = 0; r < 4; ++r) {
    io::archive mine("mine");
    std::size_t foreign = 0;
    for (io::stored_array a : file.arrays()) {
      if (!is_of(a.name, r)) {
        REQUIRE(a.bytes.size() <= size);
        a.bytes = {static_cast<const std::byte*>(forbidden), a.bytes.size()};
        ++foreign;
      }
      mine.add(std::move(a));
    }
    CHECK(foreign >= file.arrays().size() / 2);
    const auto part = models::read_decoder_run(settings, mine, r, 4);
    const auto expected = models::read_decoder_run(settings, file, r, 4);
    CHECK(part.blocks.size() == 1);
    CHECK(values_of(part.blocks[0].attention.mapped.front().query.weight) ==
          values_of(expected.blocks[0].attention.mapped.front().query.weight));
  }
  ::munmap(forbidden, size);
}

TEST_CASE("every rank reports what the whole file lacks") {
  const dimwise_test::temporary_folder folder;
  (void)write_drawn(families[0], folder / "model.safetensors");
  const io::archive file = io::read_safetensors(folder / "model.safetensors");
  io::archive less("less");
  for (const auto& a : file.arrays()) {
    if (a.name.find("layers.3.mlp.up") == std::string::npos) { less.add(a); }
  }
  for (std::size_t r = 0; r < 2; ++r) {
    const io::config_check settings(nlohmann::json::parse(families[0]), "config.json");
    const std::string said = dimwise_test::message([&] { (void)models::read_decoder_run(settings, less, r, 2); });
    CHECK(said.find("layers.3.mlp.up_proj.weight\" is missing") != std::string::npos);
  }
}

TEST_CASE("layers are divided so that the largest rank is as small as possible") {
  const auto ends = [](const std::vector<std::size_t>& sizes, std::size_t before, std::size_t after,
                       std::size_t ranks) {
    std::vector<std::size_t> all;
    for (const models::layer_run& run : models::divide_layers(sizes, before, after, ranks)) { all.push_back(run.end); }
    return all;
  };
  using list = std::vector<std::size_t>;
  CHECK(ends({1, 1, 1, 1}, 0, 0, 2) == list{2, 4});
  CHECK(ends({1, 1, 1, 1}, 2, 0, 2) == list{1, 4});
  CHECK(ends({1, 1, 1, 1}, 0, 2, 2) == list{3, 4});
  CHECK(ends({1, 1, 1, 1}, 9, 9, 4) == list{1, 2, 3, 4});
  CHECK(ends({5, 1, 1, 1}, 0, 0, 3) == list{1, 3, 4});
  CHECK(ends({0, 0}, 0, 0, 2) == list{1, 2});
}

TEST_CASE("a thread that throws in a pipeline ends the others" * support::threads) {
  const dimwise_test::temporary_folder folder;
  const io::config_check settings = write_drawn(families[0], folder / "model.safetensors");
  const io::archive file = io::read_safetensors(folder / "model.safetensors");
  constexpr std::size_t count = 4;
  for (std::size_t bad = 0; bad < count; ++bad) {
    CAPTURE(bad);
    for (const bool in_choice : {false, true}) {
      if (in_choice && bad + 1 != count) { continue; }  // the last rank chooses
      std::vector<std::string> texts(count);
      std::atomic<std::size_t> finished = 0;
      ranks::run_threads(count, [&](const ranks::communicator& world) {
        ranks::pipeline model(models::read_decoder_run(settings, file, world.rank(), count), world);
        auto caches = model.start(world.rank() == bad && !in_choice ? 5 : 24);
        try {
          (void)model.next(prompt, caches);
          (void)model.chosen([&]() -> token {
            if (in_choice) { throw std::runtime_error("no token"); }
            return token{1};
          });
        } catch (const std::exception& thrown) { texts[world.rank()] = thrown.what(); }
        ++finished;
        while (finished < count) { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }
      }, {.checks = false, .limit = std::chrono::seconds(60)});
      const std::string text =
          "rank " + std::to_string(bad) + " in pipeline::" + (in_choice ? "chosen" : "next") + ": ";
      for (std::size_t r = 0; r < count; ++r) {
        CAPTURE(r);
        CAPTURE(texts[r]);
        CHECK((texts[r].find(text) != std::string::npos) == (r != bad));
        CHECK(texts[r].find(in_choice ? "no token" : "5") != std::string::npos);
      }
    }
  }
}

TEST_CASE("a pipeline rejects layers that belong to another rank, over threads" * support::threads) {
  const dimwise_test::temporary_folder folder;
  const io::config_check settings = write_drawn(families[0], folder / "model.safetensors");
  const io::archive file = io::read_safetensors(folder / "model.safetensors");
  const auto run = [&] {
    ranks::run_threads(2, [&](const ranks::communicator& world) {
      ranks::pipeline model(models::read_decoder_run(settings, file, 0, 2), world);
    });
  };
  CHECK_THROWS_AS(run(), ranks::rank_error);
}

// tests/models/decoders/gpt2.test.cpp -- a folder of GPT-2 is read, compared with the types, and continued.
// SPDX-License-Identifier: BSL-1.0
#include "models/support.hpp"
#include <dimwise/models/gpt2.hpp>

#include <doctest/doctest.h>

#include <stdexcept>

using namespace dimwise;

namespace {

// What the compiler knows of the tiny model.
struct tiny : models::gpt2_dims {
  struct d_model : feature_dim<64> {};
  struct heads : heads_dim<4> {};
  struct d_k : divided<d_model, heads> {};
  struct d_v : divided<d_model, heads> {};
};
struct other : tiny {
  struct vocab : choice_dim<50257> {};
  struct hidden : feature_dim<128> {};
};

}  // namespace

TEST_CASE("a folder is read and continued as the suite expects, also where extents are static") {
  const dimwise_test::model_folder folder("tiny-gpt2");
  const auto model = models::read_gpt2<tiny>(folder.path());
  CHECK(nn::parameter_count(model) == 110336);
  CHECK(model.longest() == 64);
  for (const std::string prompt : {"prompt.0.", "prompt.3."}) {
    using token = models::gpt2<tiny>::token;
    const auto words = folder.ids<token>(prompt + "input_ids");
    auto past = model.start(64);
    CHECK(models::generate_greedy(model, words, 16, past) == folder.ids<token>(prompt + "greedy_ids"));
  }
}

TEST_CASE("caches that are not the model's, and a prompt without words, are refused") {
  const dimwise_test::model_folder folder("tiny-gpt2");
  const auto model = models::read_gpt2<tiny>(folder.path());
  using token = models::gpt2<tiny>::token;
  const std::vector words{token{1}, token{2}};
  auto past = model.start(8);
  CHECK_THROWS_AS(static_cast<void>(model.next({}, past)), extent_error);
  decltype(past) none;
  CHECK_THROWS_AS(static_cast<void>(model.next(words, none)), extent_error);
  CHECK(models::generate_greedy(model, words, 1, past).size() == 1);
  past.back().forget(1);
  CHECK_THROWS_AS(static_cast<void>(model.next(words, past)), origin_error);
  past.pop_back();
  CHECK_THROWS_AS(static_cast<void>(model.next(words, past)), extent_error);
  CHECK(past.front().length() == 2);
}

TEST_CASE("caches are as before where something throws between two layers") {
  const dimwise_test::model_folder folder("tiny-gpt2");
  const auto model = models::read_gpt2<tiny>(folder.path());
  using token = models::gpt2<tiny>::token;
  const std::vector first{token{1}, token{2}};
  const std::vector more{token{3}, token{4}, token{5}};
  auto past = model.start(8);
  auto expected = model.start(8);
  (void)model.next(first, past);
  (void)model.next(first, expected);
  CHECK_THROWS_AS(static_cast<void>(model.features(more, past,
                                                   [](std::size_t layer, const auto&) {
    if (layer == 1) { throw std::runtime_error("stopped"); }
  })),
                  std::runtime_error);
  for (const auto& one : past) { CHECK(one.length() == 2); }
  const auto after = model.next(more, past);
  const auto whole = model.next(more, expected);
  CHECK(std::equal(after.values().begin(), after.values().end(), whole.values().begin()));
}

TEST_CASE("logits that are NaN end a continuation") {
  const dimwise_test::model_folder folder("tiny-gpt2");
  auto model = models::read_gpt2<tiny>(folder.path());
  model.norm.beta.data()[3] = std::numeric_limits<float>::quiet_NaN();
  auto past = model.start(8);
  CHECK(dimwise_test::message([&] {
    (void)models::generate_greedy(model, std::vector{models::gpt2<tiny>::token{1}}, 1, past);
  }) == "generate_greedy: 96 of 96 logits are NaN");
}

TEST_CASE("settings that are not those of the types are told at once") {
  const dimwise_test::model_folder folder("tiny-gpt2");
  folder.change("gelu_new", "relu");
  CHECK(dimwise_test::message([&] { (void)models::read_gpt2<other>(folder.path()); }) ==
        (folder / "config.json").string() +
            ": the settings do not fit the model:\n"
            "  vocab_size is 96, but vocab has extent 50257\n"
            "  n_inner is 256, but hidden has extent 128\n"
            "  activation_function is \"relu\", the model's type has gelu_new or gelu_pytorch_tanh or gelu_fast");
  folder.change("\"tie_word_embeddings\": true", "\"tie_word_embeddings\": false");
  CHECK(dimwise_test::message([&] {
    (void)models::read_gpt2<tiny>(folder.path());
  }).find("tie_word_embeddings is false, the model's type has true") != std::string::npos);
  folder.change("\"n_layer\": 2", "\"n_layer\": 1000000000");
  CHECK(dimwise_test::message([&] {
    (void)models::read_gpt2<tiny>(folder.path());
  }).find("n_layer is 1000000000, but") != std::string::npos);
  // A layer has twelve arrays: 28 are those of two.
  folder.change("\"n_layer\": 2", "\"n_layer\": 3");
  CHECK(dimwise_test::message([&] {
    (void)models::read_gpt2<tiny>(folder.path());
  }).find("model.safetensors has 28 arrays, and each layer needs 12") != std::string::npos);
  folder.change("\"n_head\": 4", "\"n_head\": 5");
  CHECK(dimwise_test::message([&] {
    (void)models::read_gpt2<models::gpt2_dims>(folder.path());
  }).find("64 features are not divisible by 5 heads") != std::string::npos);
}

TEST_CASE("an output that is tied may be in the file again, if it is the same; one of its own must be there") {
  const dimwise_test::model_folder folder("tiny-gpt2");
  const io::archive file = io::read_safetensors(folder / "model.safetensors", io::file_access::read);
  auto arrays = file.arrays();
  const std::string prefix = file.find("wte.weight") != nullptr ? "" : "transformer.";
  io::stored_array head = file.at(prefix + "wte.weight");
  head.name = "lm_head.weight";
  arrays.push_back(head);
  io::write_safetensors(folder / "model.safetensors", arrays);
  CHECK(nn::parameter_count(models::read_gpt2<tiny>(folder.path())) == 110336);
  std::vector<std::byte> other_bytes(head.bytes.begin(), head.bytes.end());
  other_bytes[0] ^= std::byte{1};
  arrays.back().bytes = other_bytes;
  io::write_safetensors(folder / "model.safetensors", arrays);
  const std::string told = dimwise_test::message([&] { (void)models::read_gpt2<tiny>(folder.path()); });
  CHECK(told.find("is not the same as") != std::string::npos);
}

TEST_CASE("an output of its own stands beside the model, whose names may have a prefix") {
  const dimwise_test::model_folder folder("tiny-gpt2");
  using own_model = models::gpt2<models::gpt2_dims, models::own>;
  const io::archive file = io::read_safetensors(folder / "model.safetensors", io::file_access::read);
  const std::string prefix = file.find("wte.weight") != nullptr ? "" : "transformer.";
  folder.change("\"tie_word_embeddings\": true", "\"tie_word_embeddings\": false");
  const auto read_with = [&](const std::string& before, const std::string& before_head) {
    std::vector<io::stored_array> arrays;
    for (io::stored_array a : file.arrays()) {
      a.name = before + a.name.substr(prefix.size());
      arrays.push_back(std::move(a));
    }
    io::stored_array head = file.at(prefix + "wte.weight");
    head.name = before_head + "lm_head.weight";
    arrays.push_back(head);
    io::write_safetensors(folder / "model.safetensors", arrays);
    return models::read_gpt2<models::gpt2_dims, models::own>(folder.path());
  };
  for (const std::string before : {"", "transformer."}) {
    const own_model model = read_with(before, "");
    auto past = model.start(64);
    const auto words = folder.ids<own_model::token>("prompt.0.input_ids");
    CHECK(models::generate_greedy(model, words, 16, past) == folder.ids<own_model::token>("prompt.0.greedy_ids"));
  }
  const std::string told = dimwise_test::message([&] { (void)read_with("transformer.", "transformer."); });
  CHECK(told.find("\n  \"lm_head.weight\" is missing: output.map.weight") != std::string::npos);
  CHECK(told.find("\"transformer.lm_head.weight\" (F32 [96, 64]) is not expected") != std::string::npos);
}

TEST_CASE("shards are read by their index, which is compared with them both ways") {
  const dimwise_test::model_folder folder("tiny-gpt2");
  const io::archive file = io::read_safetensors(folder / "model.safetensors", io::file_access::read);
  const auto& all = file.arrays();
  const auto half = static_cast<std::ptrdiff_t>(all.size() / 2);
  std::vector<io::stored_array> first(all.begin(), all.begin() + half);
  std::vector<io::stored_array> second(all.begin() + half, all.end());
  std::filesystem::remove(folder / "model.safetensors");
  io::write_safetensors(folder / "a.safetensors", first);
  io::write_safetensors(folder / "b.safetensors", second);
  nlohmann::json index;
  for (const auto& a : first) { index["weight_map"][a.name] = "a.safetensors"; }
  for (const auto& a : second) { index["weight_map"][a.name] = "b.safetensors"; }
  folder.write("model.safetensors.index.json", index.dump());
  CHECK(nn::parameter_count(models::read_gpt2<tiny>(folder.path())) == 110336);

  const std::string moved = second.front().name;
  second.front().name = "spare";
  io::write_safetensors(folder / "b.safetensors", second);
  const std::string told = dimwise_test::message([&] { (void)io::read_checkpoint(folder.path()); });
  CHECK(told.find("the index and the files differ:") != std::string::npos);
  CHECK(told.find("\"spare\" is in b.safetensors, where the index does not have it") != std::string::npos);
  CHECK(told.find("\"" + moved + "\" is not in b.safetensors, where the index has it") != std::string::npos);
  std::filesystem::remove(folder / "b.safetensors");
  CHECK(dimwise_test::message([&] {
    (void)io::read_checkpoint(folder.path());
  }).find("b.safetensors: the file cannot") != std::string::npos);
  folder.write("model.safetensors.index.json", R"({"weight_map":{"x":"../x.safetensors"}})");
  CHECK(dimwise_test::message([&] {
    (void)io::read_checkpoint(folder.path());
  }).find("is not the name of a file beside the index") != std::string::npos);
  std::filesystem::remove(folder / "model.safetensors.index.json");
  CHECK(dimwise_test::message([&] {
    (void)io::read_checkpoint(folder.path());
  }).find("model.safetensors or model.safetensors.index.json was expected") != std::string::npos);
}

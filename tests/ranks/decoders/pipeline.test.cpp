// tests/ranks/decoders/pipeline.test.cpp -- decoders whose layers ranks divide, over threads (std::thread): the logits
// of one rank, bit for bit.
// SPDX-License-Identifier: BSL-1.0
#include "drawn_decoder.hpp"
#include "support/threads.hpp"
#include <dimwise/ranks/pipeline.hpp>
#include <dimwise/ranks/threads.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <vector>

using namespace drawn_decoder;

TEST_CASE("1, 2 and 4 ranks give the logits of one, for decoders of every kind, over threads" * support::threads) {
  each_kind_and_count([](const auto& settings, const auto& file, const auto&, const auto& expected, std::size_t count) {
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
  });
}

TEST_CASE("a rank has the parameters of its layers only") {
  const dimwise_test::temporary_folder folder;
  const io::config_check settings = write_drawn(families[1], folder / "model.safetensors");
  const io::archive file = io::read_safetensors(folder / "model.safetensors");
  const auto part = [&](std::size_t rank, std::size_t count) {
    return models::read_decoder_run(settings, file, rank, count);
  };
  CHECK_THROWS_WITH_AS(static_cast<void>(part(4, 4)),
                       "read_decoder_run: rank 4 of 4 ranks, a number below 4 is expected", extent_error);
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

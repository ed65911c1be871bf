// tests/ranks/decoders/tensor_parallel.test.cpp -- decoders of which each rank has a part of every layer, over threads
// (std::thread): the logits of one rank, and on all ranks the same bits.
// SPDX-License-Identifier: BSL-1.0
#include "drawn_decoder.hpp"
#include "support/threads.hpp"
#include <dimwise/ranks/checkpoint.hpp>
#include <dimwise/ranks/messages/gathered_parts.hpp>
#include <dimwise/ranks/threads.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <sys/mman.h>
#include <vector>

using namespace drawn_decoder;

namespace {

struct tp : mesh_axis<> {};
struct dims : models::decoder_dims {
  using divided_along = tp;
  using gatherer = ranks::gathered_parts<tp>;
};

// The largest difference of two lists of logits, in units of the largest logit.
double difference(const std::vector<std::vector<float>>& a, const std::vector<std::vector<float>>& b) {
  double most = 0;
  double largest = 0;
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    REQUIRE(a[i].size() == b[i].size());
    for (std::size_t j = 0; j < a[i].size(); ++j) {
      most = std::max(most, std::abs(static_cast<double>(a[i][j]) - static_cast<double>(b[i][j])));
      largest = std::max(largest, std::abs(static_cast<double>(b[i][j])));
    }
  }
  return most / largest;
}

auto read_part(const io::config_check& settings, const io::archive& file, const ranks::communicator& world) {
  return models::read_decoder_part<dims>(settings, file, ranks::gathered_parts<tp>(world),
                                         [&](const io::bindings& names) { ranks::place_parts<tp>(names, world); });
}

}  // namespace

TEST_CASE("1, 2 and 4 ranks with a part of each layer give the logits of one, over threads" * support::threads) {
  each_kind_and_count(
      [](const auto& settings, const auto& file, const auto& whole, const auto& expected, std::size_t count) {
    if (whole.config.kv_heads % count != 0) { return; }
    const std::size_t all = nn::parameter_count(whole);
    std::vector<std::vector<std::vector<float>>> found(count);
    ranks::run_threads(count, [&](const ranks::communicator& world) {
      const auto part = read_part(settings, file, world);
      found[world.rank()] = logits_of(part, part.start(24));
      CHECK(nn::parameter_count(part) < all / count + all / 4 + 20 * 16);
    }, {.checks = count == 2});
    // Kernels add the at most 24 terms of a product in an order that depends on its size: a few roundings, in four
    // layers.
    CHECK(difference(found[0], expected) < 1e-5);
    for (const auto& other : found) { CHECK(other == found[0]); }
  });
}

TEST_CASE("a rank reads its part of each array only, over threads" * support::threads) {
  const dimwise_test::temporary_folder folder;
  const io::config_check settings = write_drawn(
      R"({"model_type":"llama","vocab_size":64,"hidden_size":64,"intermediate_size":128,"num_hidden_layers":1,
          "num_attention_heads":4,"num_key_value_heads":2})",
      folder / "model.safetensors");
  const io::archive file = io::read_safetensors(folder / "model.safetensors");
  const auto whole = models::read_decoder(settings, file);
  ranks::run_threads(2, [&](const ranks::communicator& world) {
    // Copies of the arrays. Reading the rows of the other rank, whole pages, ends the program.
    io::archive mine("mine");
    std::vector<std::pair<void*, std::size_t>> pages;
    std::size_t forbidden = 0;
    for (io::stored_array a : file.arrays()) {
      const std::size_t size = a.bytes.size();
      void* const copy = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      REQUIRE(copy != MAP_FAILED);
      pages.emplace_back(copy, size);
      std::memcpy(copy, a.bytes.data(), size);
      a.bytes = {static_cast<const std::byte*>(copy), size};
      if (size % 8192 == 0 && a.name.find("embed_tokens") == std::string::npos) {  // of which each rank has features
        auto* const others = static_cast<std::byte*>(copy) + (world.rank() == 0 ? size / 2 : 0);
        REQUIRE(::mprotect(others, size / 2, PROT_NONE) == 0);
        ++forbidden;
      }
      mine.add(std::move(a));
    }
    CHECK(forbidden == 8);  // queries, keys, values, their output, gate, up, down, the output
    const auto part = read_part(settings, mine, world);
    const auto& up = part.blocks[0].feed_forward.front().up.weight;
    const auto& all = whole.blocks[0].feed_forward.front().up.weight;
    CHECK(up.size() * 2 == all.size());
    CHECK(up.data()[0] == all.data()[world.rank() * 64]);
    CHECK(logits_of(part, part.start(24)) == logits_of(whole, whole.start(24)));
    for (const auto& [at, size] : pages) { ::munmap(at, size); }
  });
}

TEST_CASE("settings that ranks cannot divide are errors, over threads" * support::threads) {
  const dimwise_test::temporary_folder folder;
  const auto said = [&](const std::string& text, std::size_t count) {
    std::string message;
    const io::config_check settings = write_drawn(text, folder / "model.safetensors");
    ranks::run_threads(count, [&](const ranks::communicator& world) {
      const std::string thrown = dimwise_test::message(
          [&] { (void)read_part(settings, io::read_safetensors(folder / "model.safetensors"), world); });
      if (world.rank() == 0) { message = thrown; }
    });
    return message;
  };
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  CHECK(has(said(families[0], 4), "2 key heads cannot be divided among 4 ranks"));
  CHECK(has(said(R"({"model_type":"olmo2","vocab_size":20,"hidden_size":16,"intermediate_size":24,"num_hidden_layers":2,
                     "num_attention_heads":4,"num_key_value_heads":2})",
                 2),
            "a norm of queries and keys over all heads cannot be divided among 2 ranks"));
}

TEST_CASE("uneven parts become whole along an inner axis, and a part of another extent is an error, over threads" *
          support::threads) {
  struct seq : position_dim<2> {};
  struct heads : heads_dim<> {};
  ranks::run_threads(2, [](const ranks::communicator& world) {
    const ranks::gathered_parts<tp> g(world);
    const auto mine = g.part<heads>(5);
    CHECK(mine.extent() == (world.rank() == 0 ? 3 : 2));
    tensor<float, seq, shard<heads, tp>> x(mine);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::size_t first = world.rank() == 0 ? 0 : 3;
      x.overwrite()[i] = static_cast<float>(10 * (i / mine.extent()) + first + i % mine.extent());
    }
    const auto all = g.whole<heads>(x, 5);
    const std::vector<float> elements(all.data(), all.data() + all.size());
    CHECK(elements == std::vector<float>{0, 1, 2, 3, 4, 10, 11, 12, 13, 14});
    CHECK_THROWS_WITH_AS((void)g.whole<heads>(x, 50), doctest::Contains("expected 25"), extent_error);
  });
}

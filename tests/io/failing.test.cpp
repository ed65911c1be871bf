// tests/io/failing.test.cpp -- files that are written and read while memory runs out, and on a full disk.
// SPDX-License-Identifier: BSL-1.0
#include "support.hpp"
#include "support/failing_allocations.hpp"
#include <dimwise/eval/context.hpp>
#include <dimwise/io/checkpoint.hpp>
#include <dimwise/io/config.hpp>
#include <dimwise/io/npy.hpp>
#include <dimwise/nn/hana.hpp>

#include <doctest/doctest.h>

#include <csignal>
#include <iterator>
#include <string>
#include <sys/resource.h>

using namespace dimwise;
using namespace dimwise::io;

namespace {

struct rows : feature_dim<> {};
struct columns : feature_dim<8> {};
using layer = nn::linear<nn::from<columns>, nn::to<rows>>;
struct model {
  using layers_type = std::vector<layer>;
  BOOST_HANA_DEFINE_STRUCT(model, (layers_type, layers_with_a_long_name));
};
model filled(float value) {
  const layer one{layer::weight_type(rows{5}), layer::bias_type(rows{5})};
  model m{{one, one}};
  nn::for_each_parameter(m, [&](const std::string&, auto& p) { p.fill(value); });
  return m;
}
bool is_filled(const model& m, float value) {
  bool all = true;
  nn::for_each_parameter(m, [&](const std::string&, const auto& p) {
    for (const float x : p.values()) { all = all && x == value; }
  });
  return all;
}
std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("a checkpoint is saved and loaded whole or not at all where memory runs out") {
  const dimwise_test::temporary_folder folder;
  const auto path = folder / "m.safetensors";
  save(filled(2), path);
  const std::string second = text_of(path);
  save(filled(1), path);
  const std::string first = text_of(path);
  const model two = filled(2);
  CHECK(dimwise_test::each_allocation_fails([&](const auto& work) {
    trim_memory();
    const bool ended = work([&] { save(two, path); });
    CHECK(text_of(path) == (ended ? second : first));
    CHECK(dimwise_test::files_in(folder.path()) == 1);
  }) > 20);
  CHECK(dimwise_test::each_allocation_fails([&](const auto& work) {
    trim_memory();
    model m = filled(1);
    const bool ended = work([&] { load(m, read_safetensors(path)); });
    CHECK(is_filled(m, ended ? 2.0F : 1.0F));
  }) > 20);
}

TEST_CASE("JSON that is read while memory runs out, for long, throws and does not terminate") {
  const std::string text = R"({"a": [[1, 2.5, "a text of more than sixteen letters"], {"b": {"c": [true, null, -1]}}],
      "a": {"a": ["the later one of two counts, as before"]}, "vocab_size": 7, "list": [[], {}, [[]], "x"]})";
  CHECK(parse_json(text, "t") == nlohmann::json::parse(text));
  dimwise_test::failing_stays = true;
  const long failed = dimwise_test::each_allocation_fails([&](const auto& work) {
    work([&] {
      const config_check settings(parse_json(text, "t"), "t");
      (void)settings.keys();
    });
  });
  dimwise_test::failing_stays = false;
  CHECK(failed > 20);
}

TEST_CASE("a file that the disk has no room for leaves the old one") {
  const dimwise_test::temporary_folder folder;
  folder.write("a.npy", "old");
  const std::vector<float> many(100'000, 1.0F);
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{10'000, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  const std::string said = dimwise_test::message(
      [&] { write_npy(folder / "a.npy", {"a", element_type::f32, {100'000}, std::as_bytes(std::span(many))}); });
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, old_handler);
  CHECK(said.find("the file cannot be written: File too large") != std::string::npos);
  CHECK(text_of(folder / "a.npy") == "old");
  CHECK(dimwise_test::files_in(folder.path()) == 1);
}

// tests/ranks/checkpoint.test.cpp -- modules whose parameters ranks divide, over threads (std::thread): any number of
// ranks writes the file of one rank, and reads its parts of it.
// SPDX-License-Identifier: BSL-1.0
#include "io/support.hpp"
#include "ranks/parted_module.hpp"
#include "support/threads.hpp"
#include <dimwise/ranks/threads.hpp>

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <string>

using namespace dimwise;
using namespace parted;

namespace {

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

template <std::size_t N, class F>
void on(const F& f) {
  ranks::run_threads(N, [&](const ranks::communicator& world) { f(world); }, {.checks = true});
}
template <class F>
void on_1_2_4(const F& f) {
  f(std::integral_constant<std::size_t, 1>());
  f(std::integral_constant<std::size_t, 2>());
  f(std::integral_constant<std::size_t, 4>());
}

template <class F>
std::string text_of_error(const F& f) {
  try {
    f();
  } catch (const io::file_error& e) { return e.what(); }
  return "";
}
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("1, 2 and 4 ranks write the file of the whole module, and read their parts of it, over threads" *
          support::threads) {
  const dimwise_test::temporary_folder folder;
  whole_module whole = whole_module_of(7, 5);
  io::save(whole, folder / "whole.safetensors");
  const std::string expected = bytes_of(folder / "whole.safetensors");
  on_1_2_4([&]<std::size_t N>(std::integral_constant<std::size_t, N>) {
    CAPTURE(N);
    const auto path = folder / ("of_" + std::to_string(N) + ".safetensors");
    on<N>([&](const ranks::communicator& world) {
      const ranks::mesh grid(world, tp<N>{});
      ranks::save(part_of(whole, world.rank(), std::integral_constant<std::size_t, N>()), path, grid);
    });
    CHECK(bytes_of(path) == expected);
  });
  on_1_2_4([&]<std::size_t N>(std::integral_constant<std::size_t, N>) {
    CAPTURE(N);
    on<N>([&](const ranks::communicator& world) {
      const ranks::mesh grid(world, tp<N>{});
      const auto part = part_of(whole, world.rank(), std::integral_constant<std::size_t, N>());
      auto read = part;
      clear(read);
      REQUIRE_FALSE(same(read, part));
      ranks::load(read, io::read_safetensors(folder / "of_4.safetensors"), grid);
      CHECK(same(read, part));
    });
  });
}

TEST_CASE("ranks with equal parts beside others of the mesh, over threads" * support::threads) {
  const dimwise_test::temporary_folder folder;
  const whole_module whole = whole_module_of(7, 5);
  io::save(whole, folder / "whole.safetensors");
  on<4>([&](const ranks::communicator& world) {
    const ranks::mesh<dp, tp<2>> grid(world);
    const auto part = part_of(whole, grid.coordinate<tp<2>>(), std::integral_constant<std::size_t, 2>());
    ranks::save(part, folder / "grid.safetensors", grid);
    auto read = part;
    clear(read);
    ranks::load(read, io::read_safetensors(folder / "grid.safetensors"), grid);
    CHECK(same(read, part));
  });
  CHECK(bytes_of(folder / "grid.safetensors") == bytes_of(folder / "whole.safetensors"));
}

TEST_CASE("a dimension that two mesh axes divide, over threads" * support::threads) {
  const dimwise_test::temporary_folder folder;
  struct nested {
    using here = shard<shard<rows, tp<2>, striped>, dp>;
    using weight_type = tensor<float, here, d_model>;
    weight_type weight;
    using members = nn::member_list<&nested::weight>;
  };
  on<4>([&](const ranks::communicator& world) {
    const ranks::mesh<dp, tp<2>> grid(world);
    // Of 7 rows, the stripes have 4 and 3; the first rank along dp has 2 of each.
    const std::size_t stripe = grid.coordinate<tp<2>>();
    const std::size_t half = grid.coordinate<dp>();
    const std::size_t count = half == 0 ? 2 : (stripe == 0 ? 2 : 1);
    nested part;
    std::vector<float> values;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t row = stripe + 2 * (2 * half + i);
      for (std::size_t f = 0; f < 6; ++f) { values.push_back(static_cast<float>(10 * row + f)); }
    }
    part.weight = nested::weight_type(std::span<const float>(values), nested::here{count});
    ranks::save(part, folder / "nested.safetensors", grid);
    nested read{nested::weight_type(nested::here{count})};
    ranks::load(read, io::read_safetensors(folder / "nested.safetensors"), grid);
    CHECK(std::equal(values.begin(), values.end(), read.weight.values().begin(), read.weight.values().end()));
  });
  const io::archive file = io::read_safetensors(folder / "nested.safetensors");
  const auto all = io::read_tensor<tensor<float, rows, d_model>>(file.at("weight"));
  for (std::size_t i = 0; i < all.size(); ++i) { REQUIRE(all.values()[i] == static_cast<float>(10 * (i / 6) + i % 6)); }
  CHECK(file.metadata().at("dimensions of weight").starts_with("rows[7]"));
}

TEST_CASE("bindings give divided parameters their places in arrays of several heads and of several maps, over threads" *
          support::threads) {
  const dimwise_test::temporary_folder folder;
  const whole_module whole = whole_module_of(7, 5);
  const auto bind = [](io::bindings& file, auto& m) {
    using heads_here = typename std::remove_reference_t<decltype(m)>::heads_here;
    using hidden_here = typename std::remove_reference_t<decltype(m)>::hidden_here;
    using rows_here = typename std::remove_reference_t<decltype(m)>::rows_here;
    file.linear<io::out_in>("q_proj", m.query);
    file.bind<io::stored<d_model, io::together<io::part<0, 2>, hidden_here>>>("both", m.up);
    file.bind<io::stored<d_model, io::together<io::part<1, 2>, hidden_here>>>("both", m.gate);
    file.bind<io::stored<d_model, hidden_here>>("down", m.down);
    file.bind<io::stored<d_model, io::together<d_k, heads_here>>>("flat", m.flat);
    file.bind<io::stored<rows_here, d_model>>("table", m.table);
    file.norm("norm", m.norm);
  };
  whole_module bound = whole;
  io::bindings file;
  bind(file, bound);
  io::save(bound, folder / "whole.safetensors", file);
  on_1_2_4([&]<std::size_t N>(std::integral_constant<std::size_t, N> count) {
    CAPTURE(N);
    const auto path = folder / ("of_" + std::to_string(N) + ".safetensors");
    on<N>([&](const ranks::communicator& world) {
      const ranks::mesh grid(world, tp<N>{});
      auto part = part_of(whole, world.rank(), count);
      io::bindings of_part;
      bind(of_part, part);
      ranks::save(part, path, grid, of_part);
      auto read = part;
      clear(read);
      io::bindings to;
      bind(to, read);
      ranks::load(read, io::read_safetensors(path), grid, to);
      CHECK(same(read, part));
    });
    CHECK(bytes_of(path) == bytes_of(folder / "whole.safetensors"));
  });
}

TEST_CASE("mismatches of all ranks are one error, and nothing changes, over threads" * support::threads) {
  const dimwise_test::temporary_folder folder;
  whole_module other = whole_module_of(8, 5);
  io::save(other, folder / "other.safetensors");
  const whole_module whole = whole_module_of(7, 5);
  on<2>([&](const ranks::communicator& world) {
    const ranks::mesh grid(world, tp<2>{});
    auto part = part_of(whole, world.rank(), std::integral_constant<std::size_t, 2>());
    const auto before = part;
    const std::string said =
        text_of_error([&] { ranks::load(part, io::read_safetensors(folder / "other.safetensors"), grid); });
    CHECK(has(said, "the file does not fit the model:\n"));
    CHECK(has(said, "\"up\" (F32 [6, 8]) does not fit up (d_model[6] hidden[7]), which needs [6, 7]"));
    CHECK(has(said, "\"down\" (F32 [8, 6])"));
    CHECK_FALSE(has(said, "rank 0"));  // all ranks say the same, once
    CHECK(said.find("\"up\"") == said.rfind("\"up\""));
    CHECK(same(part, before));
    // A part of another extent on one rank: of nine, rank 0 would have five.
    if (world.rank() == 1) { part.up = decltype(part.up)(shard<hidden, tp<2>>{5}); }
    const std::string one = text_of_error([&] { ranks::save(part, folder / "none.safetensors", grid); });
    CHECK(has(one, "the model cannot be written:\n"));
    CHECK(has(one, "rank 0: \"up\": this rank has 4 of hidden[9], its part has the extent 5"));
    CHECK(has(one, "rank 1: \"up\": this rank has 5 of hidden[9], its part has the extent 4"));
    CHECK_FALSE(std::filesystem::exists(folder / "none.safetensors"));
  });
}

TEST_CASE("a mesh without the axis, and a file that cannot be written, end in an error on every rank, over threads" *
          support::threads) {
  const dimwise_test::temporary_folder folder;
  const whole_module whole = whole_module_of(7, 5);
  on<2>([&](const ranks::communicator& world) {
    const auto part = part_of(whole, world.rank(), std::integral_constant<std::size_t, 2>());
    const ranks::mesh<dp> wrong(world);
    CHECK(has(text_of_error([&] { ranks::save(part, folder / "none.safetensors", wrong); }),
              "\"up\": the mesh has no axis tp<2>, which divides hidden"));
    const ranks::mesh grid(world, tp<2>{});
    CHECK(has(text_of_error([&] { ranks::save(part, folder / "no folder" / "f.safetensors", grid); }), "no folder"));
    ranks::save(part, folder / "after.safetensors", grid);  // the ranks still agree
  });
  CHECK(std::filesystem::exists(folder / "after.safetensors"));
}

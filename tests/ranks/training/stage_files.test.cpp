// tests/ranks/training/stage_files.test.cpp -- one file of all stages of a pipeline, over threads (std::thread): any
// number of stages writes the file of one rank, and reads its layers of it.
// SPDX-License-Identifier: BSL-1.0
#include "stage_files.hpp"

#include "io/support.hpp"
#include "support/threads.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <string>

using namespace dimwise;

namespace {

struct pp : mesh_axis<> {};
struct tp : mesh_axis<2> {};
struct few : feature_dim<4> {};
struct wide : feature_dim<6> {};

template <class Hidden, class M, class T = float>
struct layers {
  using stage_along = M;
  using layer = tensor<T, Hidden, few>;
  std::vector<layer> up{};
  std::vector<layer> down{};
  using members = nn::member_list<&layers::up, &layers::down>;
};

// A dimension whose extent only the parameters have.
struct columns : feature_dim<> {};
template <class Hidden, class M>
struct with_columns {
  using stage_along = M;
  std::vector<tensor<float, Hidden, columns>> weight{};
  using members = nn::member_list<&with_columns::weight>;
};
struct tied_columns {
  using stage_along = pp;
  std::vector<tensor<float, wide, columns>> weight{};
  using members = nn::member_list<&tied_columns::weight>;
  using tied = nn::member_list<&tied_columns::weight>;
};

struct steps {
  tensor<std::int64_t> count;
  using members = nn::member_list<&steps::count>;
};

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
template <class F>
std::string text_of_error(const F& f) {
  try {
    f();
  } catch (const io::file_error& e) { return e.what(); }
  return "";
}
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

template <template <class, class> class Stage>
void check_files() {
  const dimwise_test::temporary_folder folder;
  io::save(stage_checks::all_stages<Stage>(), folder / "whole.safetensors");
  for (const std::size_t count : {1U, 2U, 3U, 4U}) {
    CAPTURE(count);
    const auto path = folder / ("of_" + std::to_string(count));
    ranks::run_threads(count, [&](const ranks::communicator& world) {
      stage_checks::write_stages<Stage>(path, world);
      world.barrier();
      stage_checks::read_stages<Stage>(folder / "whole.safetensors", world);
    }, {.checks = true});
    CHECK(bytes_of(path) == bytes_of(folder / "whole.safetensors"));
  }
}

}  // namespace

TEST_CASE("1 to 4 stages write the file of one rank, and read their layers of it, over threads" * support::threads) {
  check_files<stage_checks::stage>();
  check_files<stage_checks::tied_stage>();
}

TEST_CASE("stages of which ranks divide the parameters write one file, by own names and by bindings, over threads" *
          support::threads) {
  const dimwise_test::temporary_folder folder;
  layers<wide, void> whole;
  whole.up.resize(4);
  whole.down.resize(4);
  float next = 0;
  nn::for_each_parameter(whole, [&](const std::string&, auto& p) {
    for (std::size_t i = 0; i < p.size(); ++i) { p.overwrite()[i] = ++next; }
  });
  io::save(whole, folder / "whole");
  const auto bind = [](io::bindings& file, auto& m, std::size_t first) {
    using layer = typename std::remove_reference_t<decltype(m)>::layer;
    using hidden =
        std::tuple_element_t<0,
                             decltype([]<class D, class E>(tensor<float, D, E>) { return std::tuple<D>(); }(layer()))>;
    for (std::size_t i = 0; i < m.up.size(); ++i) {
      file.bind<io::stored<few, io::together<io::part<0, 2>, hidden>>>("h." + std::to_string(first + i), m.up[i]);
      file.bind<io::stored<few, io::together<io::part<1, 2>, hidden>>>("h." + std::to_string(first + i), m.down[i]);
    }
  };
  io::bindings of_whole;
  bind(of_whole, whole, 0);
  io::save(whole, folder / "whole_bound", of_whole);
  ranks::run_threads(4, [&](const ranks::communicator& world) {
    const ranks::mesh<tp, pp> grid(world);
    using wide_here = shard<wide, tp>;
    layers<wide_here, pp> part;
    const std::size_t first = 2 * grid.coordinate<pp>();
    for (std::size_t i = first; i < first + 2; ++i) {
      part.up.push_back(part_of<wide_here>(whole.up[i], grid));
      part.down.push_back(part_of<wide_here>(whole.down[i], grid));
    }
    ranks::save(part, folder / "parts", grid);
    layers<wide_here, pp> read;
    read.up.resize(2);
    read.down.resize(2);
    ranks::load(read, io::read_safetensors(folder / "parts"), grid);
    stage_checks::expect_same(read, part, "a stage that was read");
    io::bindings file;
    bind(file, part, first);
    ranks::save(part, folder / "parts_bound", grid, file);
    layers<wide_here, pp> again;
    again.up.resize(2);
    again.down.resize(2);
    io::bindings to;
    bind(to, again, first);
    ranks::load(again, io::read_safetensors(folder / "parts_bound"), grid, to);
    stage_checks::expect_same(again, part, "a stage that was read by bindings");
    // One name on both stages.
    io::bindings twice;
    bind(twice, part, 0);
    const std::string said = text_of_error([&] { ranks::save(part, folder / "twice", grid, twice); });
    CHECK(has(said, "the model cannot be written:\n"));
    CHECK(has(said, "\"h.0\" is an array of stage 0 and of stage 1"));
  }, {.checks = true});
  CHECK(bytes_of(folder / "parts") == bytes_of(folder / "whole"));
  CHECK(bytes_of(folder / "parts_bound") == bytes_of(folder / "whole_bound"));
  CHECK_FALSE(std::filesystem::exists(folder / "twice"));
}

TEST_CASE("stages with other numbers of layers than the file are an error on all ranks, over threads" *
          support::threads) {
  const dimwise_test::temporary_folder folder;
  layers<wide, void> whole;
  whole.up.resize(4);
  whole.down.resize(4);
  io::save(whole, folder / "whole");
  ranks::run_threads(2, [&](const ranks::communicator& world) {
    const ranks::mesh<pp> grid(world);
    layers<wide, pp> few_layers, many;
    few_layers.up.resize(2);
    few_layers.down.resize(1 + world.rank());
    const std::string left_out =
        text_of_error([&] { ranks::load(few_layers, io::read_safetensors(folder / "whole"), grid); });
    CHECK(has(left_out, "\"down.3\" (F32 [6, 4]) is not expected"));
    CHECK_FALSE(has(left_out, "\"down.2\""));
    CHECK_FALSE(has(left_out, "up"));
    many.up.resize(2);
    many.down.resize(2 + world.rank());
    const std::string missing = text_of_error([&] { ranks::load(many, io::read_safetensors(folder / "whole"), grid); });
    CHECK(has(missing, "rank 1: \"down.4\" is missing"));
  }, {.checks = true});
}

TEST_CASE("ranks with other extents of one array, or with other copies of a tied one, write no file, over threads" *
          support::threads) {
  const dimwise_test::temporary_folder folder;
  ranks::run_threads(2, [&](const ranks::communicator& world) {
    const std::size_t here = world.rank() == 0 ? 4 : 6;
    const ranks::mesh<tp> parts(world);
    with_columns<shard<wide, tp>, void> part;
    part.weight.emplace_back(columns{here});
    const std::string divided = text_of_error([&] { ranks::save(part, folder / "none", parts); });
    CHECK(has(
        divided,
        "\"weight.0\" is F32 [6, 4] (wide[6] columns[4]) on rank 0, and F32 [6, 6] (wide[6] columns[6]) on rank 1"));
    with_columns<wide, void> same_on_both;
    same_on_both.weight.emplace_back(columns{here});
    const std::string whole = text_of_error([&] { ranks::save(same_on_both, folder / "none", parts); });
    CHECK(has(whole, "\"weight.0\" is F32 [6, 4] (wide[6] columns[4]) on rank 0, and F32 [6, 6]"));
    const ranks::mesh<pp> stages(world);
    tied_columns tied;
    tied.weight.emplace_back(columns{here});
    const std::string copies = text_of_error([&] { ranks::save(tied, folder / "none", stages); });
    CHECK(has(copies, "\"weight.0\" is F32 [6, 4] (wide[6] columns[4]) on rank 0, and F32 [6, 6]"));
    tied_columns other;
    other.weight.emplace_back(columns{4}).fill(1);
    if (world.rank() == 1) { other.weight[0].data()[other.weight[0].size() - 1] = 2; }
    const std::string elements = text_of_error([&] { ranks::save(other, folder / "none", stages); });
    CHECK(has(elements, "\"weight.0\" has other elements on rank 1 than on rank 0; tied parameters are copies"));
  }, {.checks = true});
  CHECK_FALSE(std::filesystem::exists(folder / "none"));
}

TEST_CASE("each stage reads a file of which another stage ignores or ties arrays, over threads" * support::threads) {
  const dimwise_test::temporary_folder folder;
  layers<wide, void> whole;
  whole.up.resize(2);
  whole.down.resize(2);
  for (auto* const list : {&whole.up, &whole.down}) {
    for (auto& p : *list) { p.fill(1); }
  }
  io::save(whole, folder / "whole");
  const auto load = [&](const ranks::communicator& world, const std::string& as) {
    const ranks::mesh<pp> grid(world);
    layers<wide, pp> read;
    read.up.resize(1);
    const std::string number = std::to_string(world.rank());
    io::bindings file;
    file.bind<io::stored<wide, few>>("up." + number, read.up[0]);
    if (world.rank() == 0) {
      file.ignore_all("down.0");
    } else if (!as.empty()) {
      file.same("down.1", as);
    }
    return text_of_error([&] { ranks::load(read, io::read_safetensors(folder / "whole"), grid, file); });
  };
  ranks::run_threads(2, [&](const ranks::communicator& world) {
    CHECK(load(world, "up.1") == "");
    const std::string unknown = load(world, "");
    CHECK(has(unknown, "\"down.1\" (F32 [6, 4]) is not expected"));
    CHECK_FALSE(has(unknown, "down.0"));
  }, {.checks = true});
  whole.down[1].fill(2);
  io::save(whole, folder / "whole");
  ranks::run_threads(2, [&](const ranks::communicator& world) {
    CHECK(has(load(world, "up.1"), "rank 1: \"down.1\" (F32 [6, 4]) is not the same as \"up.1\""));
  }, {.checks = true});
}

TEST_CASE("a parameter of some ranks of a stage only is an error on all ranks, over threads" * support::threads) {
  const dimwise_test::temporary_folder folder;
  ranks::run_threads(4, [&](const ranks::communicator& world) {
    const ranks::mesh<tp, pp> grid(world);
    layers<wide, pp> whole;
    layers<shard<wide, tp>, pp> divided;
    const std::size_t count = world.rank() == 3 ? 2 : 1;
    whole.up.resize(count);
    divided.up.resize(count);
    const std::string line = "\"up.2\" is an array of rank 3, but not of rank ";
    CHECK(has(text_of_error([&] { ranks::save(whole, folder / "none", grid); }), line));
    CHECK(has(text_of_error([&] { ranks::save(divided, folder / "none", grid); }), line));
  }, {.checks = true});
  CHECK_FALSE(std::filesystem::exists(folder / "none"));
  layers<wide, void> file;
  file.up.resize(3);
  io::save(file, folder / "three");
  ranks::run_threads(2, [&](const ranks::communicator& world) {
    const ranks::mesh<tp> grid(world);
    layers<wide, void> read;
    read.up.resize(2 + world.rank());
    CHECK(has(text_of_error([&] { ranks::load(read, io::read_safetensors(folder / "three"), grid); }),
              "\"up.2\" is an array of rank 1, but not of rank 0"));
  }, {.checks = true});
}

TEST_CASE("a write of stages that fails leaves the old file as it was, over threads" * support::threads) {
  const dimwise_test::temporary_folder folder;
  ranks::run_threads(2, [&](const ranks::communicator& world) {
    const ranks::mesh<pp> grid(world);
    layers<wide, pp> part;
    part.up.resize(1);
    part.up[0].fill(static_cast<float>(world.rank()));
    io::bindings file;
    file.bind<io::stored<wide, few>>("up." + std::to_string(world.rank()), part.up[0]);
    ranks::save(part, folder / "a", grid, file);
    const std::string before = bytes_of(folder / "a");
    world.barrier();
    part.up[0].fill(7);
    const std::string said = text_of_error([&] { ranks::save(part, folder / "a", grid, file, {{"key", "\xff"}}); });
    CHECK(has(said, "it is not UTF-8"));
    CHECK(bytes_of(folder / "a") == before);
    CHECK(dimwise_test::files_in(folder.path()) == 1);
    world.barrier();
    ranks::save(part, folder / "a", grid, file);  // the ranks still agree
  }, {.checks = true});
  const io::archive after = io::read_safetensors(folder / "a");
  CHECK(after.arrays().size() == 2);
}

TEST_CASE("stages that go on from files have the bits of an uninterrupted run, over threads" * support::threads) {
  const dimwise_test::temporary_folder folder;
  ranks::run_threads(2, [&](const ranks::communicator& world) {
    const ranks::mesh<pp> grid(world);
    layers<wide, pp> part;
    part.up.resize(2);
    part.down.resize(1);
    nn::normal draw(1 + world.rank(), 0.3);
    nn::initialise(part, draw);
    const auto gradient = part;
    const adamw_settings how{.rate = 0.01};
    adamw optimiser(part, how);
    for (int i = 0; i < 3; ++i) { optimiser.step(part, gradient); }
    ranks::save(part, folder / "model", grid);
    ranks::save(optimiser.state.first, folder / "first", grid);
    ranks::save(optimiser.state.second, folder / "second", grid);
    ranks::save(steps{optimiser.state.step}, folder / "steps", grid);
    auto read = gradient;
    adamw resumed(read, how);
    steps done{tensor<std::int64_t>(0)};
    const auto load = [&](auto& to, const char* name) { ranks::load(to, io::read_safetensors(folder / name), grid); };
    load(read, "model");
    load(resumed.state.first, "first");
    load(resumed.state.second, "second");
    load(done, "steps");
    resumed.state.step = done.count;
    optimiser.step(part, gradient);
    resumed.step(read, gradient);
    stage_checks::expect_same(read, part, "a stage after a step that went on from files");
  }, {.checks = true});
}

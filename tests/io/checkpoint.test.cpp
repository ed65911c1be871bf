// tests/io/checkpoint.test.cpp -- parameters as a table, saved and loaded: all or nothing, by names, orders and
// conventions that are types.
// SPDX-License-Identifier: BSL-1.0
#include "support.hpp"
#include <dimwise/grad/optimiser.hpp>
#include <dimwise/io/checkpoint.hpp>
#include <dimwise/io/config.hpp>
#include <dimwise/nn/hana.hpp>
#include <dimwise/nn/layers/embedding.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <sstream>
#include <stdexcept>

using namespace dimwise;
using namespace dimwise::io;

namespace {

struct words : choice_dim<> {};
struct features : feature_dim<4> {};
struct heads : heads_dim<2> {};
struct d_k : feature_dim<4> {};

using projection = nn::linear<nn::from<features>, nn::to<heads, d_k>>;
using square_map = nn::linear<nn::from<features>, nn::to<features>, nn::no_bias>;

struct model {
  using embedding = nn::embedding<words, features>;
  using layer_list = std::vector<square_map>;
  using norm_type = nn::layer_norm<features>;
  BOOST_HANA_DEFINE_STRUCT(model, (embedding, table), (layer_list, layers), (norm_type, norm));
};
struct mapped {
  BOOST_HANA_DEFINE_STRUCT(mapped, (square_map, map));
};
using other_way = tensor<float, out<features>, features>;
struct turned_map {
  BOOST_HANA_DEFINE_STRUCT(turned_map, (other_way, weight));
};
struct turned {
  BOOST_HANA_DEFINE_STRUCT(turned, (turned_map, map));
};
struct queried {
  BOOST_HANA_DEFINE_STRUCT(queried, (projection, query));
};
using scale_norm = nn::rms_norm<features>;
struct normed {
  BOOST_HANA_DEFINE_STRUCT(normed, (scale_norm, norm));
};
struct three {
  BOOST_HANA_DEFINE_STRUCT(three, (projection, query), (projection, key), (projection, value));
};

model counted(std::size_t count = 3) {
  model m{{}, std::vector<square_map>(2), {}};
  nn::normal how(1);
  nn::initialise(m, how, words{count});
  return m;
}
std::vector<float> numbers(std::size_t n) {
  std::vector<float> all(n);
  std::iota(all.begin(), all.end(), 0.0F);
  return all;
}
std::vector<float> values_of(const auto& t) { return {t.values().begin(), t.values().end()}; }
bool same(const model& a, const model& b) {
  return values_of(a.table.table) == values_of(b.table.table) &&
         values_of(a.layers[1].weight) == values_of(b.layers[1].weight) &&
         values_of(a.norm.beta) == values_of(b.norm.beta);
}

// An archive of float arrays.
struct made {
  archive file{"f"};
  std::vector<std::unique_ptr<std::vector<float>>> memory;
  made& add(const std::string& name, std::vector<std::size_t> extents, std::vector<float> values) {
    memory.push_back(std::make_unique<std::vector<float>>(std::move(values)));
    file.add({name, element_type::f32, std::move(extents), std::as_bytes(std::span(*memory.back()))});
    return *this;
  }
  made& add(const std::string& name, std::vector<std::size_t> extents) {
    const std::size_t n = *count_of(extents);
    return add(name, std::move(extents), numbers(n));
  }
};

}  // namespace

TEST_CASE("the table of parameters names dimensions, extents, types and bytes") {
  const model m = counted();
  const auto table = parameter_table(m);
  REQUIRE(table.size() == 5);
  CHECK(table[0].name == "table.table");
  CHECK(table[0].dimensions == std::vector<std::string>{"words", "features"});
  CHECK(table[0].extents == std::vector<std::size_t>{3, 4});
  CHECK(table[0].bytes == 48);
  CHECK(table[2].dimensions == std::vector<std::string>{"features", "out<features>"});
  std::ostringstream text;
  text << table;
  CHECK(text.str() ==
        "table.table      F32           48  words[3] features[4]\n"
        "layers.0.weight  F32           64  features[4] out<features>[4]\n"
        "layers.1.weight  F32           64  features[4] out<features>[4]\n"
        "norm.gamma       F32           16  features[4]\n"
        "norm.beta        F32           16  features[4]\n"
        "5 parameters, 52 numbers, 208 bytes\n");
}

TEST_CASE("what was saved is loaded again, extents included") {
  const dimwise_test::temporary_folder folder;
  const model m = counted();
  save(m, folder / "m.safetensors");
  model other = counted();
  other.table.table.fill(7);
  load(other, read_safetensors(folder / "m.safetensors"));
  CHECK(same(other, m));
}

TEST_CASE("an optimiser's whole state is saved: it goes on as if it had not been") {
  const dimwise_test::temporary_folder folder;
  model straight = counted();
  adamw optimiser(straight, {.rate = 0.1});
  optimiser.step(straight, counted());
  optimiser.step(straight, counted());
  save(optimiser.state, folder / "state.safetensors");
  model resumed = straight;
  adamw other(resumed, {.rate = 0.1});
  load(other.state, read_safetensors(folder / "state.safetensors"));
  CHECK(std::int64_t(other.state.step) == 2);
  optimiser.step(straight, counted());
  other.step(resumed, counted());
  CHECK(same(resumed, straight));
  CHECK(!same(resumed, counted()));
}

TEST_CASE("every mismatch is told at once, and nothing is changed") {
  const dimwise_test::temporary_folder folder;
  save(counted(5), folder / "m.safetensors");
  const archive file = read_safetensors(folder / "m.safetensors");
  model m = counted();
  const model before = m;
  bindings names(words{3});
  names.bind<stored<words, features>>("table.table", m.table.table);
  names.linear<in_out>("layers.0", m.layers[0]);
  names.linear<in_out>("layers.7", m.layers[1]);
  names.bind<stored<features>>("norm.gamma", m.norm.gamma);
  names.bind<stored<features>>("norm.gamma", m.norm.gamma);
  CHECK(dimwise_test::message([&] { load(m, file, names); }) ==
        file.title() +
            ": the file does not fit the model:\n"
            "  \"table.table\" (F32 [5, 4]) does not fit table.table (words[3] features[4]), which needs [3, 4]\n"
            "  \"layers.7.weight\" is missing: layers.1.weight (features[4] out<features>[4]) needs [4, 4]\n"
            "  norm.gamma is bound twice, the second time to \"norm.gamma\"\n"
            "  norm.beta is not bound to an array\n"
            "  \"layers.1.weight\" (F32 [4, 4]) is not expected: no parameter is bound to it\n"
            "  \"norm.beta\" (F32 [4]) is not expected: no parameter is bound to it");
  CHECK(same(m, before));
  CHECK(compare(m, file, names).size() == 6);
}

TEST_CASE("a square_map weight that is stored transposed is turned, and a file that says other dimensions is refused") {
  const dimwise_test::temporary_folder folder;
  mapped m;
  m.map.weight.assign(numbers(16));
  bindings names;
  names.linear<out_in>("fc", m.map);
  save(m, folder / "t.safetensors", names);
  const archive file = read_safetensors(folder / "t.safetensors");
  std::vector<float> stored(16);
  std::memcpy(stored.data(), file.at("fc.weight").bytes.data(), 64);
  CHECK(stored[1] == 4);
  CHECK(stored[4] == 1);
  mapped read;
  bindings again;
  again.linear<out_in>("fc", read.map);
  load(read, file, again);
  CHECK(values_of(read.map.weight) == numbers(16));

  save(m, folder / "own.safetensors");
  turned t;
  const auto lines = compare(t, read_safetensors(folder / "own.safetensors"));
  REQUIRE(lines.size() == 1);
  CHECK(lines[0] ==
        "\"map.weight\" (F32 [4, 4]) has the dimensions \"features[4] out<features>[4]\", map.weight (out<features>[4] "
        "features[4]) was expected");
}

TEST_CASE("queries, keys and values in one array: in thirds, or by heads") {
  three m;
  const auto bound = [&]<class Parts>(Parts, const archive& from) {
    bindings names;
    names.fused<Parts, in_out>("qkv", m.query, m.key, m.value);
    load(m, from, names);
  };
  made file;
  file.add("qkv.weight", {4, 24}).add("qkv.bias", {24});
  bound(thirds{}, file.file);
  CHECK(m.key.weight(id<features>{1}, id<heads>{0}, id<d_k>{2}) == 24 + 8 + 2);
  CHECK(m.value.bias(id<heads>{1}, id<d_k>{3}) == 16 + 4 + 3);
  bound(by_heads{}, file.file);
  CHECK(m.key.weight(id<features>{1}, id<heads>{1}, id<d_k>{2}) == 24 + 12 + 4 + 2);
  CHECK(m.value.bias(id<heads>{1}, id<d_k>{3}) == 12 + 8 + 3);

  const dimwise_test::temporary_folder folder;
  bindings names;
  names.fused<by_heads, in_out>("qkv", m.query, m.key, m.value);
  save(m, folder / "f.safetensors", names);
  const archive written = read_safetensors(folder / "f.safetensors");
  CHECK(std::memcmp(written.at("qkv.weight").bytes.data(), file.file.at("qkv.weight").bytes.data(), 4 * 96) == 0);

  made wrong;
  wrong.add("qkv.weight", {4, 12}).add("qkv.bias", {24});
  const auto lines = compare(m, wrong.file, names);
  REQUIRE(lines.size() == 1);  // once for the array, though three parameters share it
  CHECK(lines[0].find("\"qkv.weight\" (F32 [4, 12]) does not fit query.weight") == 0);
}

TEST_CASE("two maps in one array: keys and values, one after the other or by heads, and back") {
  three m;
  m.query.weight.assign(numbers(32));
  m.query.bias.assign(numbers(8));
  const auto read = [&]<class Parts, class Convention>(Parts, Convention, const archive& from) {
    bindings names;
    names.fused<Parts, Convention>("kv", m.key, m.value);
    names.linear<Convention>("q", m.query);
    load(m, from, names);
  };
  made file;
  file.add("kv.weight", {4, 16}).add("kv.bias", {16}).add("q.weight", {4, 8}).add("q.bias", {8});
  read(equal_parts{}, in_out{}, file.file);
  CHECK(m.key.weight(id<features>{1}, id<heads>{1}, id<d_k>{2}) == 16 + 4 + 2);
  CHECK(m.value.weight(id<features>{1}, id<heads>{1}, id<d_k>{2}) == 16 + 8 + 4 + 2);
  CHECK(m.value.bias(id<heads>{1}, id<d_k>{3}) == 8 + 4 + 3);
  read(by_heads{}, in_out{}, file.file);
  CHECK(m.key.weight(id<features>{1}, id<heads>{1}, id<d_k>{2}) == 16 + 8 + 2);
  CHECK(m.value.bias(id<heads>{1}, id<d_k>{3}) == 8 + 4 + 3);
  made turned;
  turned.add("kv.weight", {16, 4}).add("kv.bias", {16}).add("q.weight", {8, 4}).add("q.bias", {8});
  read(equal_parts{}, out_in{}, turned.file);
  CHECK(m.value.weight(id<features>{1}, id<heads>{1}, id<d_k>{2}) == 4 * (8 + 4 + 2) + 1);

  const dimwise_test::temporary_folder folder;
  bindings names;
  names.fused<equal_parts, out_in>("kv", m.key, m.value);
  names.linear<out_in>("q", m.query);
  save(m, folder / "f.safetensors", names);
  const archive written = read_safetensors(folder / "f.safetensors");
  CHECK(std::memcmp(written.at("kv.weight").bytes.data(), turned.file.at("kv.weight").bytes.data(), 4 * 64) == 0);
}

TEST_CASE("maps in one array that differ in size are refused at once, with both") {
  nn::linear<nn::from<features>, nn::to<heads, d_k>> key;
  nn::linear<nn::from<features>, nn::to<words>> other{};
  bindings names(words{5});
  CHECK(
      dimwise_test::message([&] { names.in("h.0.").fused<equal_parts, in_out>("kv", key, other); }) ==
      "fused: the parts of \"h.0.kv.weight\" differ in size: features[4] (part 0 of 2 heads[2] d_k[4]) and features[4] "
      "(part 1 of 2 words[5])");
  CHECK(names.list().all.empty());
  bindings same(words{8});
  same.fused<equal_parts, in_out>("kv", key, other);
  CHECK(same.list().all.size() == 4);
}

TEST_CASE("an array of a file is one parameter, or all of its parts") {
  const dimwise_test::temporary_folder folder;
  const auto refused = [&](const auto& m, const bindings& names) {
    return dimwise_test::message([&] { save(m, folder / "f.safetensors", names); });
  };
  three m;
  const std::string path = (folder / "f.safetensors").string();
  {
    bindings names;
    names.linear<in_out>("w", m.query);
    names.linear<in_out>("w", m.key);
    names.linear<in_out>("v", m.value);
    CHECK(refused(m, names) == path + ": w.weight is bound to two parameters; a file has one array of a name");
  }
  {
    bindings names;
    names.bind<stored<features, heads, d_k>>("w", m.query.weight);
    names.bind<stored<heads, d_k>>("w", m.query.bias);
    names.linear<in_out>("k", m.key);
    names.linear<in_out>("v", m.value);
    CHECK(refused(m, names) == path + ": w is bound to parameters of other extents or elements");
  }
  {
    queried one;
    bindings names;
    names.bind<stored<features, together<io::part<0, 3>, heads, d_k>>>("w", one.query.weight);
    names.bind<stored<heads, d_k>>("b", one.query.bias);
    CHECK(refused(one, names) == path + ": part 1 of w is not bound to a parameter");
  }
  CHECK(dimwise_test::files_in(folder.path()) == 0);
}

TEST_CASE("rotary pairs in the file become the halves of the model, and halves pairs") {
  queried m;
  made file;
  file.add("q.weight", {8, 4}).add("q.bias", {8});
  bindings names;
  names.linear<out_in, pairs_as_halves<d_k>>("q", m.query);
  load(m, file.file, names);
  CHECK(values_of(m.query.bias) == std::vector<float>{0, 2, 1, 3, 4, 6, 5, 7});
  CHECK(m.query.weight(id<features>{3}, id<heads>{1}, id<d_k>{1}) == 4 * 6 + 3);
  bindings back;
  back.linear<out_in, halves_as_pairs<d_k>>("q", m.query);
  load(m, file.file, back);
  CHECK(values_of(m.query.bias) == std::vector<float>{0, 2, 1, 3, 4, 6, 5, 7});
  CHECK(m.query.weight(id<features>{3}, id<heads>{1}, id<d_k>{2}) == 4 * 5 + 3);
}

TEST_CASE("names: a prefix, older names, arrays that are ignored or the same as others") {
  model m = counted();
  bindings names;
  names.may_begin_with("transformer.");
  names.bind<stored<words, features>>("wte", m.table.table);
  for (std::size_t i = 0; i < 2; ++i) { names.in("h." + std::to_string(i) + ".").linear<in_out>("fc", m.layers[i]); }
  names.norm("ln", m.norm);
  names.ignore("h.0.mask");
  names.same("lm_head", "wte");
  made file;
  file.add("transformer.wte", {3, 4}).add("transformer.h.0.fc.weight", {4, 4}).add("transformer.h.1.fc.weight", {4, 4});
  file.add("transformer.ln.gamma", {4}).add("transformer.ln.beta", {4}).add("transformer.h.0.mask", {2});
  file.add("lm_head", {3, 4});
  load(m, file.file, names);
  CHECK(values_of(m.norm.beta) == numbers(4));
  file.add("transformer.lm_head", {3, 4}, std::vector<float>(12));
  const auto lines = compare(m, file.file, names);
  REQUIRE(lines.size() == 1);
  CHECK(lines[0] ==
        "\"transformer.lm_head\" (F32 [3, 4]) is not the same as \"transformer.wte\" (F32 [3, 4]), to which the model "
        "ties it");
}

TEST_CASE("a norm's scale may be stored less one") {
  const dimwise_test::temporary_folder folder;
  normed m;
  made file;
  file.add("n.weight", {4});
  bindings names;
  names.norm<less_one>("n", m.norm);
  load(m, file.file, names);
  CHECK(values_of(m.norm.gamma) == std::vector<float>{1, 2, 3, 4});
  save(m, folder / "n", names);
  const auto saved = read_safetensors(folder / "n");
  CHECK(std::memcmp(saved.at("n.weight").bytes.data(), file.memory[0]->data(), 16) == 0);
}

TEST_CASE("narrower elements are widened; wider ones are rounded where that is allowed") {
  normed m;
  const auto load_as = [&]<class S>(std::vector<S> values, rounding how) {
    archive file("f");
    file.add({"norm.gamma", element_type_of<S>, {4}, std::as_bytes(std::span(values))});
    return dimwise_test::message([&] { load(m, file, how); });
  };
  CHECK(load_as(std::vector{float16(0.5F), float16(1), float16(2), float16(3)}, rounding::refused).empty());
  CHECK(values_of(m.norm.gamma) == std::vector<float>{0.5F, 1, 2, 3});
  CHECK(load_as(std::vector{bfloat16(0.5F), bfloat16(1), bfloat16(4), bfloat16(3)}, rounding::refused).empty());
  CHECK(values_of(m.norm.gamma)[2] == 4);
  CHECK(load_as(std::vector<double>{0.1, 1, 2, 3}, rounding::refused) ==
        "f: the file does not fit the model:\n  \"norm.gamma\" (F64 [4]) would be rounded to F32, which was not "
        "allowed for "
        "norm.gamma (features[4])");
  CHECK(load_as(std::vector<double>{0.1, 1, 2, 3}, rounding::allowed).empty());
  CHECK(values_of(m.norm.gamma)[0] == 0.1F);
  CHECK(load_as(std::vector<std::int32_t>{1, 2, 3, 4}, rounding::allowed).find("cannot be read as F32") !=
        std::string::npos);
}

TEST_CASE("text that is no JSON is one line, however long it is") {
  const std::string text = "{\"" + std::string(100000, 'a');
  const std::string said = dimwise_test::message([&] { (void)parse_json(text, "config.json"); });
  CHECK(said.find("config.json: JSON was expected: ") == 0);
  CHECK(said.size() < 400);
  CHECK(said.find('\n') == std::string::npos);
}

TEST_CASE("sizes in a config.json are shown as they are written") {
  const dimwise_test::temporary_folder folder;
  const auto said = [&](const std::string& number) {
    folder.write("config.json", R"({"b": {"n": 7}, "a": "\"n\": 8", "n" : )" + number + R"(, "c": [{"n": 9}]})");
    const std::string whole = dimwise_test::message([&] {
      config_check config(folder / "config.json");
      (void)config.count("n");
      config.finish();
    });
    return whole.empty() ? whole : whole.substr((folder / "config.json").string().size());
  };
  const std::string begin = ": the settings do not fit the model:\n  n is ";
  for (const char* const number : {"-1", "-0", "0", "2.5", "-9223372036854775809", "1e0"}) {
    CHECK(said(number) == begin + number + ", a whole number from 1 was expected");
  }
  for (const char* const number : {"100000000000000000000", "1e30", "1099511627777", "18446744073709551615"}) {
    CHECK(said(number) == begin + number + ", a whole number from 1 to 2^40 was expected");
  }
  CHECK(said("\"5\"") == begin + "\"5\", a whole number from 1 was expected");
  CHECK(said("1" + std::string(200, '0')) ==
        begin + "1" + std::string(59, '0') + "…, a whole number from 1 to 2^40 was expected");
  CHECK(said("5").empty());
}

TEST_CASE("names in files do not turn the text of an error around") {
  archive file("odd\xe2\x80\xae.safetensors");
  const std::vector<float> one{1};
  file.add(
      {"a\xe2\x80\xae"
       "b",
       element_type::f32,
       {1},
       std::as_bytes(std::span(one))});
  normed m;
  const std::string said = dimwise_test::message([&] { load(m, file); });
  CHECK(said.find("odd\\u202e.safetensors: ") == 0);
  CHECK(said.find("\"a\\u202eb\" (F32 [1])") != std::string::npos);
  CHECK(said.find("\xe2\x80\xae") == std::string::npos);
}

// Copies of the settings are recursive: without a limit, 40 KB ended the program.
TEST_CASE("JSON may be nested 127 levels deep, and no deeper") {
  const auto nested = [](std::size_t levels) {
    const std::string text = "{\"x\":" + std::string(levels - 1, '[') + std::string(levels - 1, ']') + "}";
    return dimwise_test::message([&] {
      const config_check settings(parse_json(text, "config.json"), "config.json");
      config_check copy = settings;
      copy.finish();
    });
  };
  CHECK(nested(127).empty());
  CHECK(nested(128) == "config.json: the JSON is nested deeper than 127 levels");
  CHECK(nested(1000000) == "config.json: the JSON is nested deeper than 127 levels");
  // Brackets in words do not count, whatever is escaped in them.
  const std::string words = R"({"x":"\\\")" + std::string(500, '[') + R"(","y\\":[1]})";
  CHECK(parse_json(words, "c").at("x").get<std::string>().size() == 502);
}

TEST_CASE("a file that differs in everything is told in a hundred lines") {
  normed m;
  archive file("f");
  const std::vector<float> one{1};
  for (int i = 0; i < 1000; ++i) {
    file.add({"x" + std::to_string(i), element_type::f32, {1}, std::as_bytes(std::span(one))});
  }
  CHECK(compare(m, file).size() == 1001);
  const std::string said = dimwise_test::message([&] { load(m, file); });
  CHECK(std::count(said.begin(), said.end(), '\n') == 101);
  CHECK(said.ends_with("\n  and 901 more differences"));
}

namespace {

struct many_features : feature_dim<> {};
struct run_time_map {
  using map_type = nn::linear<nn::from<many_features>, nn::to<many_features>, nn::no_bias>;
  BOOST_HANA_DEFINE_STRUCT(run_time_map, (map_type, map));
};

}  // namespace

TEST_CASE("a map of a dimension to itself has one bound extent") {
  const std::vector<float> values{1, 2, 3, 4};
  archive file("a file");
  file.add({"map.weight", element_type::f32, {2, 2}, std::as_bytes(std::span(values))});
  run_time_map m;
  bindings names(many_features{2});
  names.linear<out_in>("map", m.map);
  load(m, file, names);
  CHECK(m.map.weight.values()[1] == 3);  // stored [out, in], held [in, out]
}

TEST_CASE("watch_loading reports the read bytes, and its exception leaves the model unchanged") {
  const std::vector<float> values{1, 2, 3, 4};
  archive file("a file");
  file.add({"map.weight", element_type::f32, {2, 2}, std::as_bytes(std::span(values))});
  run_time_map m;
  bindings names(many_features{2});
  names.linear<out_in>("map", m.map);
  {
    const watch_loading stops([](std::size_t, std::size_t) { throw std::runtime_error("stop"); });
    CHECK_THROWS_AS(load(m, file, names), std::runtime_error);
    CHECK(m.map.weight.size() == 0);
    std::vector<std::pair<std::size_t, std::size_t>> told;
    {
      const watch_loading inner([&](std::size_t done, std::size_t all) { told.emplace_back(done, all); });
      load(m, file, names);
    }
    CHECK(told == std::vector<std::pair<std::size_t, std::size_t>>{{16, 16}});
    CHECK_THROWS_AS(load(m, file, names), std::runtime_error);
  }
  load(m, file, names);
  CHECK(m.map.weight.values()[1] == 3);
}

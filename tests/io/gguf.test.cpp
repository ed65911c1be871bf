// tests/io/gguf.test.cpp -- GGUF files: settings, turned extents, blocks of 8 and 4 bits, and what is refused.
// SPDX-License-Identifier: BSL-1.0
#include "support.hpp"
#include <dimwise/io/arrays/tensors.hpp>
#include <dimwise/io/gguf.hpp>

#include <doctest/doctest.h>

using namespace dimwise;
using namespace dimwise::io;
using dimwise_test::bytes_of_text;

namespace {

struct seq : position_dim<> {};
struct d_k : feature_dim<> {};

template <class T>
std::string put(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof(T)};
}
std::string word(const std::string& text) { return put<std::uint64_t>(text.size()) + text; }

// A file with settings and tensors that are written out already.
struct made {
  std::vector<std::string> settings;
  std::vector<std::string> tensors;
  std::string data;

  made& tensor(const std::string& name, const std::vector<std::uint64_t>& fastest_first, std::uint32_t type,
               const std::string& bytes) {
    std::string t = word(name) + put(static_cast<std::uint32_t>(fastest_first.size()));
    for (const auto n : fastest_first) { t += put(n); }
    tensors.push_back(t + put(type) + put<std::uint64_t>(data.size()));
    data += bytes + std::string((32 - bytes.size() % 32) % 32, '\0');
    return *this;
  }
  [[nodiscard]] std::string file(std::uint32_t version = 3) const {
    std::string all = "GGUF" + put(version) + put<std::uint64_t>(tensors.size()) + put<std::uint64_t>(settings.size());
    for (const auto& s : settings) { all += s; }
    for (const auto& t : tensors) { all += t; }
    return all + std::string((32 - all.size() % 32) % 32, '\0') + data;
  }
};
std::string refusal(const std::string& file) {
  return dimwise_test::message([&] { (void)parse_gguf(bytes_of_text(file), "x"); });
}
std::string floats(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), 4 * values.size()};
}

}  // namespace

TEST_CASE("extents are turned: the slowest comes first") {
  made m;
  m.settings = {
      word("general.architecture") + put<std::uint32_t>(8) + word("llama"),
      word("a.list") + put<std::uint32_t>(9) + put<std::uint32_t>(8) + put<std::uint64_t>(2) + word("x") + word("yz"),
      word("n") + put<std::uint32_t>(4) + put<std::uint32_t>(7)};
  m.tensor("t", {3, 2}, 0, floats({0, 1, 2, 3, 4, 5})).tensor("s", {1}, 0, floats({9}));
  const std::string file = m.file();
  const archive read = parse_gguf(bytes_of_text(file), "x");
  CHECK(read.metadata().at("general.architecture") == "llama");
  CHECK(read.metadata().at("a.list") == "list of 2");
  CHECK(read.metadata().at("n") == "7");
  CHECK(read.at("t").extents == std::vector<std::size_t>{2, 3});
  const auto t = read_tensor<tensor<float, seq, d_k>>(read.at("t"));
  CHECK(t(id<seq>{1}, id<d_k>{0}) == 3);
}

TEST_CASE("numbers of settings keep their value; lists of any element are passed over") {
  const auto list = [](std::uint32_t type, std::uint64_t n, const std::string& elements) {
    return put<std::uint32_t>(9) + put(type) + put(n) + elements;
  };
  made m;
  m.settings = {word("eps") + put<std::uint32_t>(6) + put(1e-12F), word("exact") + put<std::uint32_t>(12) + put(0.1),
                word("whole") + put<std::uint32_t>(6) + put(10000.0F)};
  const std::size_t sizes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  for (std::uint32_t type = 0; type < 13; ++type) {
    if (sizes[type] == 0) { continue; }
    m.settings.push_back(word("list" + std::to_string(type)) + list(type, 3, std::string(3 * sizes[type], '\1')));
  }
  m.settings.push_back(word("words") + list(8, 2, word("ab") + word("")));
  const std::string inner = put<std::uint32_t>(4) + put<std::uint64_t>(1) + put<std::uint32_t>(7);
  m.settings.push_back(word("nested") + list(9, 2, inner + inner));
  m.settings.push_back(word("last") + put<std::uint32_t>(7) + "\1");
  const std::string file = m.file();
  const archive read = parse_gguf(bytes_of_text(file), "x");
  CHECK(read.metadata().at("eps") == "1e-12");
  CHECK(read.metadata().at("exact") == "0.1");
  CHECK(std::stof(read.metadata().at("whole")) == 10000.0F);
  CHECK(read.metadata().at("list12") == "list of 3");
  CHECK(read.metadata().at("nested") == "list of 2");
  CHECK(read.metadata().at("last") == "true");
  // Behind the settings there are bytes that align the data of no tensors: their presence is not checked.
  for (std::size_t n = 0; n + 32 < file.size(); ++n) { CHECK(!refusal(file.substr(0, n)).empty()); }
  made unknown;
  unknown.settings = {word("n") + list(13, 1, std::string(64, '\0'))};
  CHECK(refusal(unknown.file()) == "x: not a GGUF file: a setting has the unknown type 13");
  made long_one;
  long_one.settings = {word("n") + list(12, (1ULL << 61) + 1, std::string(64, '\0'))};
  CHECK(refusal(long_one.file()).find("elements of a list do not fit into the") != std::string::npos);
}

// 40 MB of numbers took half a minute when each was written out: CTest's limit of time would end the test.
TEST_CASE("a long list of numbers costs no time") {
  made m;
  m.settings = {word("n") + put<std::uint32_t>(9) + put<std::uint32_t>(0) + put<std::uint64_t>(100000000) +
                std::string(100000000, '\1')};
  const std::string file = m.file();
  CHECK(parse_gguf(bytes_of_text(file), "x").metadata().at("n") == "list of 100000000");
}

TEST_CASE("blocks of 8 and 4 bits are whole numbers times their scale") {
  std::string q8 = put(float16(0.5F).bits);
  std::string q4 = put(float16(2).bits);
  for (int i = 0; i < 32; ++i) { q8 += static_cast<char>(i - 16); }
  for (int i = 0; i < 16; ++i) { q4 += static_cast<char>(i | ((15 - i) << 4)); }
  made m;
  m.tensor("a", {32, 1}, 8, q8).tensor("b", {32, 1}, 2, q4);
  const std::string file = m.file();
  const archive read = parse_gguf(bytes_of_text(file), "x");
  const auto a = read_tensor<tensor<float, seq, d_k>>(read.at("a"));
  const auto b = read_tensor<tensor<float, seq, d_k>>(read.at("b"));
  CHECK(a(id<seq>{0}, id<d_k>{0}) == -8);
  CHECK(a(id<seq>{0}, id<d_k>{31}) == 7.5F);
  CHECK(b(id<seq>{0}, id<d_k>{0}) == -16);  // low bits: the first 16
  CHECK(b(id<seq>{0}, id<d_k>{15}) == 14);
  CHECK(b(id<seq>{0}, id<d_k>{16}) == 14);  // high bits: the last 16
  CHECK(b(id<seq>{0}, id<d_k>{31}) == -16);
}

TEST_CASE("version 2 has the layout of version 3") {
  made two;
  two.tensor("t", {3, 2}, 0, floats({1, 2, 3, 4, 5, 6}));
  const std::string second = two.file(2);
  const std::string third = two.file(3);
  CHECK(second != third);
  const archive file = parse_gguf(dimwise_test::bytes_of_text(second), "x");
  CHECK(file.at("t").extents == std::vector<std::size_t>{2, 3});
  const archive same = parse_gguf(dimwise_test::bytes_of_text(third), "x");
  CHECK(std::equal(file.at("t").bytes.begin(), file.at("t").bytes.end(), same.at("t").bytes.begin()));
}

TEST_CASE("what is wrong is named") {
  CHECK(refusal("GGML") == "x: not a GGUF file: it does not begin with GGUF");
  CHECK(refusal(made().file(1)) == "x: not a GGUF file: it has version 1, 2 or 3 was expected");
  CHECK(refusal(made().file(4)) == "x: not a GGUF file: it has version 4, 2 or 3 was expected");
  CHECK(refusal(made().file(3U << 24)) == "x: not a GGUF file: it is big-endian, little-endian was expected");
  CHECK(refusal("GGUF" + put<std::uint32_t>(3) + put<std::uint64_t>(1ULL << 60) + put<std::uint64_t>(0)) ==
        "x: not a GGUF file: 1152921504606846976 tensors do not fit into the 0 bytes that are left");
  made k;
  k.tensor("t", {256}, 12, std::string(144, '\0'));
  CHECK(
      refusal(k.file()) ==
      "x: not a GGUF file: \"t\" has the type Q4_K, F32, F16, BF16, Q8_0, Q4_0, F64, I8, I16, I32 or I64 was expected");
  made unread;
  unread.tensor("t", {32}, 39, std::string(17, '\0'));
  CHECK(refusal(unread.file()).find("\"t\" has the type MXFP4, F32, ") != std::string::npos);
  made longest;
  longest.tensor(std::string(64, 'n'), {8}, 0, floats(std::vector<float>(8)));
  CHECK(refusal(longest.file()).empty());
  made longer;
  longer.tensor(std::string(65, 'n'), {8}, 0, floats(std::vector<float>(8)));
  CHECK(refusal(longer.file()).find("has a name of 65 bytes, at most 64 were expected") != std::string::npos);
  made nameless;
  nameless.settings = {word("") + put<std::uint32_t>(0) + "a"};
  CHECK(refusal(nameless.file()) == "x: not a GGUF file: a setting has no name");
  made short_row;
  short_row.tensor("t", {16, 2}, 8, std::string(34, '\0'));
  CHECK(refusal(short_row.file()).find("has rows that end within a block") != std::string::npos);
  made good;
  good.tensor("t", {8}, 0, floats(std::vector<float>(8))).tensor("u", {8}, 0, floats(std::vector<float>(8)));
  CHECK(refusal(good.file()).empty());
  const std::string file = good.file();
  for (std::size_t n = 0; n < file.size(); ++n) { CHECK(!refusal(file.substr(0, n)).empty()); }
  made same = good;
  same.tensors[1] = same.tensors[0];
  CHECK(refusal(same.file()) == "x: not a GGUF file: two tensors are named \"t\"");
  made twice = good;
  twice.settings = {word("n") + put<std::uint32_t>(0) + "a", word("n") + put<std::uint32_t>(0) + "b"};
  CHECK(refusal(twice.file()) == "x: not a GGUF file: two settings are named \"n\"");
  made nested = good;
  std::string list = word("n") + put<std::uint32_t>(9);
  for (int i = 0; i < 1000; ++i) { list += put<std::uint32_t>(9) + put<std::uint64_t>(1); }
  nested.settings = {list};
  CHECK(refusal(nested.file()).find("nested deeper than 4 levels") != std::string::npos);
}

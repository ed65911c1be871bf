// tests/io/safetensors.test.cpp -- safetensors files are read as the reference parser reads them, and written back.
// SPDX-License-Identifier: BSL-1.0
#include "support.hpp"
#include <dimwise/io/safetensors.hpp>

#include <doctest/doctest.h>

using namespace dimwise;
using namespace dimwise::io;
using dimwise_test::bytes_of_text;
using dimwise_test::safetensors_bytes;

namespace {

archive parsed(const std::string& file) { return parse_safetensors(bytes_of_text(file), "x"); }
std::string refusal(const std::string& header, std::size_t data = 0) {
  return dimwise_test::message([&] { (void)parsed(safetensors_bytes(header, data)); });
}

}  // namespace

TEST_CASE("a file has its arrays in their order, with types, extents and bytes") {
  const std::string file = safetensors_bytes(
      R"({"b":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]},"a":{"shape":[],"data_offsets":[8,16],"dtype":"I64"},
          "__metadata__":{"format":"pt"}})",
      16);
  const archive read = parsed(file);
  REQUIRE(read.arrays().size() == 2);
  CHECK(read.arrays()[0].name == "b");
  CHECK(read.arrays()[0].extents == std::vector<std::size_t>{1, 2});
  CHECK(read.at("a").type == element_type::i64);
  CHECK(read.at("a").extents.empty());
  CHECK(read.at("a").bytes.data() == bytes_of_text(file).data() + file.size() - 8);
  CHECK(read.metadata().at("format") == "pt");
  CHECK(read.find("c") == nullptr);
  CHECK(dimwise_test::message([&] { (void)read.at("c"); }) == "x: there is no array \"c\"");
}

TEST_CASE("what is wrong is named, with what was expected") {
  CHECK(dimwise_test::message([] { (void)parsed("1234567"); }) ==
        "x: not a safetensors file: 8 bytes were expected, it has 7");
  CHECK(dimwise_test::message([] { (void)parsed(std::string("\xff\0\0\0\0\0\0\0{}", 10)); }) ==
        "x: not a safetensors file: a header of 255 bytes does not fit; the limit is 2");
  CHECK(dimwise_test::message([] { (void)parsed("version https://git-lfs.github.com/spec/v1\noid sha256:00\n"); }) ==
        "x: not a safetensors file: it is a pointer of Git LFS; `git lfs pull` brings the file");
  CHECK(refusal("[]") == "x: not a safetensors file: in its header, it is not an object of tensors");
  CHECK(refusal("{") == "x: not a safetensors file: in its header, it is not JSON at byte 2");
  CHECK(refusal(std::string("{}\0", 3)) == "x: not a safetensors file: in its header, it holds a NUL byte");
  CHECK(refusal("\xef\xbb\xbf{}") == "x: not a safetensors file: in its header, it begins with a byte-order mark");
  CHECK(refusal(R"({"__metadata__":{"a":1}})") ==
        "x: not a safetensors file: in its header, __metadata__ is not an object of strings");
  CHECK(refusal(R"({"a":{"dtype":"f32","shape":[],"data_offsets":[0,4]}})", 4) ==
        "x: not a safetensors file: in its header, the element type \"f32\" of \"a\" is not one of safetensors");
  CHECK(refusal(R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", 4) ==
        "x: not a safetensors file: in its header, \"a\" has a shape that is not a list of integers below 2^64");
  CHECK(refusal(R"({"a":{"dtype":"F32","shape":1,"data_offsets":[0,4]}})", 4) ==
        "x: not a safetensors file: in its header, \"a\" has a shape that is not a list of integers below 2^64");
  CHECK(refusal(R"({"a":{"dtype":"F32","data_offsets":[0,4]}})", 4) ==
        "x: not a safetensors file: in its header, \"a\" lacks one of dtype, shape and data_offsets");
  CHECK(refusal(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 4) ==
        "x: not a safetensors file: \"a\" has 4 bytes, F32 [2] needs 8");
  CHECK(refusal(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", 8) ==
        "x: not a safetensors file: \"a\" has the bytes from 4 to 8, byte 0 was expected first");
  CHECK(refusal(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 5) ==
        "x: not a safetensors file: the tensors have 4 bytes, the file has 5 after its header");
  const std::string none = R"("a":{"dtype":"F32","shape":[0],"data_offsets":[0,0]})";
  CHECK(refusal("{" + none + "," + none + "}") == "x: not a safetensors file: two tensors are named \"a\"");
  const auto one = [](const std::string& name, const std::string& places) {
    return "\"" + name + R"(":{"dtype":"F32","shape":[1],"data_offsets":)" + places + "}";
  };
  CHECK(refusal("{" + one("a", "[0,4]") + "," + one("a", "[0,4]") + "}", 4) ==
        "x: not a safetensors file: two tensors are named \"a\"");
  CHECK(refusal("{" + one("a", "[0,4]") + "," + one("b", "[4,8]") + "," + one("\\u0061", "[8,12]") + "}", 12) ==
        "x: not a safetensors file: two tensors are named \"a\"");
}

// Both are what the reference parser makes of any structure and any enumeration. It judged every line here.
TEST_CASE("facts of a tensor may be a list, and a type an object with null") {
  const auto facts = [](const std::string& text) { return refusal("{\"t\":" + text + "}", 4); };
  const auto typed = [&](const std::string& type) {
    const std::string as_object = facts(R"({"dtype":)" + type + R"(,"shape":[1],"data_offsets":[0,4]})");
    CHECK(facts("[" + type + ",[1],[0,4]]") == as_object);
    return as_object;
  };
  const archive read = parsed(safetensors_bytes(
      R"({"t":["F32",[1],[0,4]],"u":{"shape":[2,1],"dtype":{"I16":null},"data_offsets":[4,8]},
          "v":[{"U8":null},[],[8,9]],"__metadata__":{"a":"b"}})",
      9));
  CHECK(read.at("t").type == element_type::f32);
  CHECK(read.at("u").type == element_type::i16);
  CHECK(read.at("u").extents == std::vector<std::size_t>{2, 1});
  CHECK(read.at("v").bytes.size() == 1);
  CHECK(read.metadata().at("a") == "b");
  CHECK(typed(R"({"F32":null})").empty());
  CHECK(facts(R"({"x":{"F32":null},"dtype":{"F32":null},"shape":[1],"data_offsets":[0,4],"y":["F32",[1],[0,4]]})")
            .empty());
  const std::string in_header = "x: not a safetensors file: in its header, ";
  for (const char* const type :
       {"{}", R"({"F32":1})", R"({"F32":{}})", R"({"F32":[]})", R"({"F32":"x"})", R"({"F32":null,"F32":null})",
        R"({"F32":null,"F16":null})", R"(["F32"])", "[]", "null", "0", "true"}) {
    CHECK(typed(type) == in_header + "\"t\" has a dtype that is not a string");
  }
  CHECK(typed(R"({"f32":null})") == in_header + "the element type \"f32\" of \"t\" is not one of safetensors");
  for (const char* const list : {"[]",
                                 R"(["F32"])",
                                 R"(["F32",[1]])",
                                 R"(["F32",[1],[0,4],1])",
                                 R"(["F32",[1],[0,4],null])",
                                 R"(["F32",[1],[0,4],[]])",
                                 R"(["F32",[1],[0,4],{"a":1}])",
                                 R"(["F32",[0,4],[1]])",
                                 R"([[1],"F32",[0,4]])",
                                 R"(["F32",[1],[0]])",
                                 R"(["F32",[1],[0,4,4]])",
                                 R"(["F32",[1],0,4])",
                                 R"(["F32",1,[0,4]])",
                                 R"(["F32",[[1]],[0,4]])",
                                 R"(["F32",[1],[[0,4]]])",
                                 R"(["F32",[-1],[0,4]])",
                                 R"(["F32",[1],{"0":0,"1":4}])",
                                 R"([["F32",[1],[0,4]]])",
                                 R"([{"dtype":"F32","shape":[1],"data_offsets":[0,4]}])",
                                 R"(["F32",{},[0,4]])",
                                 R"({"0":"F32","1":[1],"2":[0,4]})",
                                 R"({"dtype":{"F32":null}})"}) {
    CHECK(facts(list).find(in_header) == 0);
  }
  CHECK(facts(R"(["F32",[1],[0,4]])").empty());
  CHECK(facts(R"(["F32",[],[0,4]])").empty());
  CHECK(refusal(R"(["t",["F32",[1],[0,4]]])", 4) == in_header + "it is not an object of tensors");
  CHECK(refusal(R"({"__metadata__":["F32",[1],[0,4]]})", 4) == in_header + "__metadata__ is not an object of strings");
}

TEST_CASE("unknown fields are skipped, whatever they hold") {
  const archive read = parsed(safetensors_bytes(
      R"({"a":{"extra":{"dtype":[1,{"shape":null}]},"dtype":"U8","more":1,"shape":[1],"x":[[]],
          "data_offsets":[0,1],"y":-1.5}})",
      1));
  CHECK(read.at("a").type == element_type::u8);
  CHECK(refusal(R"({"a":{"extra":)" + std::string(200, '[') + std::string(200, ']') + "}}") ==
        "x: not a safetensors file: in its header, it is nested deeper than 127 levels");
}

// Were one of them of quadratic cost, the time limit of CTest would end the test.
TEST_CASE("hostile headers end in one error") {
  std::string many = "{";
  for (int i = 0; i < 100000; ++i) {
    many += "\"t" + std::to_string(i) + R"(":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)";
  }
  many.back() = '}';
  CHECK(refusal(many, 4).find("byte 4 was expected first") != std::string::npos);
  std::string ones = "1";
  for (int i = 1; i < 1000000; ++i) { ones += ",1"; }
  CHECK(refusal(R"({"a":{"dtype":"F32","shape":[)" + ones + R"(],"data_offsets":[0,8]}})", 8) ==
        "x: not a safetensors file: \"a\" has 8 bytes, F32 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, and 999984 "
        "more] needs 4");
  CHECK(refusal("{\"a\":" + std::string(1000000, '[')).find("has a dtype that is not a string") != std::string::npos);
  CHECK(refusal(R"({"a":{"b":)" + std::string(1000000, '{')).find("it is not JSON") != std::string::npos);
  CHECK(refusal(R"({"a":{"dtype":"F64","shape":[4294967296,4294967296,0],"data_offsets":[0,0]}})")
            .find("does not need a whole number") != std::string::npos);
}

TEST_CASE("what is written is read back, the widest elements first") {
  const dimwise_test::temporary_folder folder;
  const std::vector<float> weights{1, 2, 3};
  const std::vector<double> wide{4};
  const std::vector<stored_array> arrays{{"w \"1\"", element_type::f32, {3, 1}, std::as_bytes(std::span(weights))},
                                         {"d", element_type::f64, {}, std::as_bytes(std::span(wide))}};
  write_safetensors(folder / "a.safetensors", arrays, {{"made_by", "a test"}});
  for (const auto how : {file_access::mapped, file_access::read}) {
    const archive read = read_safetensors(folder / "a.safetensors", how);
    REQUIRE(read.arrays().size() == 2);
    CHECK(read.arrays()[0].name == "d");
    const stored_array& w = read.at("w \"1\"");
    CHECK(w.extents == std::vector<std::size_t>{3, 1});
    CHECK(std::memcmp(w.bytes.data(), weights.data(), 12) == 0);
    CHECK(reinterpret_cast<std::uintptr_t>(read.at("d").bytes.data()) % 8 == 0);
    CHECK(read.metadata().at("made_by") == "a test");
  }
}

TEST_CASE("what cannot be written leaves the old file as it was") {
  const dimwise_test::temporary_folder folder;
  const auto path = folder / "a.safetensors";
  const std::vector<float> one{1};
  const auto with = [&](const std::string& name, std::vector<std::size_t> extents) {
    return stored_array{name, element_type::f32, std::move(extents), std::as_bytes(std::span(one))};
  };
  write_safetensors(path, std::vector{with("a", {1})});
  const auto fails = [&](const std::vector<stored_array>& arrays) {
    return dimwise_test::message([&] { write_safetensors(path, arrays); }).substr(path.string().size());
  };
  CHECK(fails({with("a", {2})}) == ": \"a\" cannot be written: 4 bytes do not match F32 [2]");
  CHECK(fails({with("a", {1}), with("a", {1})}) == ": \"a\" cannot be written: the name is taken");
  CHECK(fails({with("__metadata__", {1})}) == ": \"__metadata__\" cannot be written: the name is taken");
  CHECK(fails({with("\xff", {1})}).find("it is not UTF-8") != std::string::npos);
  const archive written = read_safetensors(path);
  CHECK(written.arrays().size() == 1);
  CHECK(dimwise_test::files_in(folder.path()) == 1);
  CHECK(dimwise_test::message([&] {
    write_safetensors(folder / "none" / "a", std::vector{with("a", {1})});
  }).find("the file cannot be written: No such file") != std::string::npos);
}

TEST_CASE("files that are none are named") {
  const dimwise_test::temporary_folder folder;
  CHECK(dimwise_test::message([&] {
    (void)read_safetensors(folder / "none");
  }).find("none: the file cannot be opened: No such") != std::string::npos);
  CHECK(dimwise_test::message([] { (void)read_safetensors(""); }) ==
        "an empty file name: the file cannot be opened: No such file or directory");
  CHECK(dimwise_test::message([&] { (void)read_safetensors(folder.path()); }).find("a regular file was expected") !=
        std::string::npos);
}

// tests/io/npy.test.cpp -- .npy files, and single tensors out of files and into them.
// SPDX-License-Identifier: BSL-1.0
#include "support.hpp"
#include <dimwise/io/arrays/tensors.hpp>
#include <dimwise/io/npy.hpp>

#include <doctest/doctest.h>

using namespace dimwise;
using namespace dimwise::io;
using dimwise_test::bytes_of_text;

namespace {

struct seq : position_dim<> {};
struct heads : heads_dim<> {};
struct d_k : feature_dim<2> {};

std::string npy(const std::string& header, std::size_t data) {
  std::string file("\x93NUMPY\x01\x00", 8);
  file += static_cast<char>(header.size() % 256);
  file += static_cast<char>(header.size() / 256);
  return file + header + std::string(data, '\0');
}
std::string refusal(const std::string& file) {
  return dimwise_test::message([&] { (void)parse_npy(bytes_of_text(file), "x", "x"); });
}

}  // namespace

TEST_CASE("a tensor is written as a .npy file and read again") {
  const dimwise_test::temporary_folder folder;
  const tensor<float, seq, d_k> x({1, 2, 3, 4, 5, 6}, seq{3});
  write_npy(folder / "x.npy", as_stored("x", x));
  const archive file = read_npy(folder / "x.npy");
  CHECK(file.arrays().size() == 1);
  CHECK(file.at("x").extents == std::vector<std::size_t>{3, 2});
  CHECK(reinterpret_cast<std::uintptr_t>(file.at("x").bytes.data()) % 64 == 0);
  const auto y = read_tensor<tensor<float, seq, d_k>>(file.at("x"));
  CHECK(extent_of<seq>(y) == 3);
  CHECK(y(id<seq>{2}, id<d_k>{1}) == 6);
  write_npy(folder / "n.npy", as_stored("n", tensor<double>(2.5)));
  CHECK(static_cast<double>(read_tensor<tensor<double>>(read_npy(folder / "n.npy").at("n"))) == 2.5);
  const stored_array kept = read_npy(folder / "n.npy").at("n");  // keeps the memory of the archive, which is gone
  CHECK(static_cast<double>(read_tensor<tensor<double>>(kept)) == 2.5);
  write_npy(folder / "v.npy", as_stored("v", tensor<std::int64_t, seq>({7, 8}, seq{2})));
  CHECK(read_npy(folder / "v.npy").at("v").extents == std::vector<std::size_t>{2});
}

TEST_CASE("the order of a file is said by type, and its extents are compared") {
  const std::vector<float> numbers{0, 1, 2, 3, 4, 5, 6, 7};
  const stored_array w{"w", element_type::f32, {4, 2}, std::as_bytes(std::span(numbers))};
  const auto turned = read_tensor<tensor<float, seq, heads, d_k>, stored<together<heads, d_k>, seq>>(w, heads{2});
  CHECK(extent_of<seq>(turned) == 2);
  CHECK(turned(id<seq>{1}, id<heads>{1}, id<d_k>{0}) == 5);
  const auto fails = [&](auto f) { return dimwise_test::message(f); };
  CHECK(fails([&] { (void)read_tensor<tensor<float, seq, d_k, heads>>(w); }) ==
        "\"w\" (F32 [4, 2]) has 2 axes, 3 were expected");
  CHECK(fails([&] { (void)read_tensor<tensor<float, d_k, seq>>(w); }) ==
        "\"w\" (F32 [4, 2]) does not fit d_k[2] seq[2]");
  CHECK(fails([&] {
    (void)read_tensor<tensor<float, seq, heads, d_k>, stored<together<heads, d_k>, seq>>(w, heads{3});
  }) == "\"w\" (F32 [4, 2]) does not fit (heads[3] d_k[2]) seq[2]");
  CHECK(fails([&] { (void)read_tensor<tensor<bfloat16, seq, d_k>>(w); }) ==
        "\"w\" (F32 [4, 2]) would be rounded to BF16, which was not allowed");
  CHECK(static_cast<float>(read_tensor<tensor<bfloat16, seq, d_k>>(w, rounding::allowed)(id<seq>{3}, id<d_k>{1})) == 7);
}

TEST_CASE("ids are read from whole numbers, and are ids of their dimension") {
  struct words : dimwise::choice_dim<5> {};
  struct any_words : dimwise::choice_dim<> {};
  const std::vector<std::int32_t> numbers{0, 4, 2};
  const std::vector<std::int64_t> wrong{0, 5, -1};
  const std::vector<float> real{1, 2, 3};
  const stored_array good{"ids", element_type::i32, {3}, std::as_bytes(std::span(numbers))};
  const stored_array bad{"ids", element_type::i64, {3}, std::as_bytes(std::span(wrong))};
  const auto ids = read_tensor<tensor<id<words>, seq>>(good);
  CHECK(extent_of<seq>(ids) == 3);
  CHECK(ids.data()[1].value == 4);
  const auto fails = [&](auto f) { return dimwise_test::message(f); };
  CHECK(fails([&] {
    (void)read_tensor<tensor<id<words>, seq>>(bad);
  }).starts_with("\"ids\" has 5, which is not an id of "));
  CHECK(fails([&] { (void)read_tensor<tensor<id<any_words>, seq>>(bad); }).starts_with("\"ids\" has -1, which is no"));
  const stored_array floats{"ids", element_type::f32, {3}, std::as_bytes(std::span(real))};
  CHECK(fails([&] { (void)read_tensor<tensor<id<words>, seq>>(floats); }) == "\"ids\" (F32 [3]) cannot be read as I64");
  // Written as the integers that they are read from.
  const dimwise_test::temporary_folder folder;
  write_npy(folder / "ids.npy", as_stored("ids", ids));
  const archive file = read_npy(folder / "ids.npy");
  CHECK(file.at("ids").type == element_type::i64);
  CHECK(read_tensor<tensor<std::int64_t, seq>>(file.at("ids"))(id<seq>{2}) == 2);
  const auto again = read_tensor<tensor<id<words>, seq>>(file.at("ids"));
  for (std::size_t i = 0; i < 3; ++i) { CHECK(again.data()[i] == ids.data()[i]); }
}

TEST_CASE("elements in Fortran order are brought into C order") {
  // Extents, and elements of each size, in both orders.
  const std::vector<std::vector<std::size_t>> shapes{{},     {3},       {2, 3},       {3, 2}, {1, 4},
                                                     {4, 1}, {2, 3, 4}, {3, 1, 2, 2}, {0, 3}, {2, 0, 3}};
  const auto check = [&]<class T>(const std::string& word, T) {
    for (const auto& extents : shapes) {
      std::string shape;
      for (const std::size_t n : extents) { shape += std::to_string(n) + ","; }
      std::string file = npy("{'descr': '" + word + "', 'fortran_order': True, 'shape': (" + shape + "), }", 0);
      const std::size_t count = *count_of(extents);
      std::vector<T> fortran(count);
      std::vector<T> c(count);
      for (std::size_t i = 0; i < count; ++i) {  // the i-th element in C order: its place with the first axis fastest
        std::size_t place = 0;
        std::size_t left = i;
        for (std::size_t d = extents.size(); d-- > 0; left /= extents[d]) {
          std::size_t stride = 1;
          for (std::size_t k = 0; k < d; ++k) { stride *= extents[k]; }
          place += left % extents[d] * stride;
        }
        c[i] = static_cast<T>(i + 1);
        fortran[place] = c[i];
      }
      file.append(reinterpret_cast<const char*>(fortran.data()), count * sizeof(T));
      const stored_array a = parse_npy(bytes_of_text(file), "x", "x");
      CHECK(a.extents == extents);
      REQUIRE(a.bytes.size() == count * sizeof(T));
      CHECK((count == 0 || std::memcmp(a.bytes.data(), c.data(), count * sizeof(T)) == 0));
    }
  };
  check("<f4", float());
  check("<f8", double());
  check("<i2", std::int16_t());
  check("|u1", std::uint8_t());
  // The archive holds them; a copy of it does, too.
  const dimwise_test::temporary_folder folder;
  std::string file = npy("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), }", 0);
  const float numbers[] = {1, 3, 2, 4};
  file.append(reinterpret_cast<const char*>(numbers), sizeof numbers);
  folder.write("x.npy", file);
  const archive copy = [&] { return read_npy(folder / "x.npy"); }();
  const auto x = read_tensor<tensor<float, seq, d_k>>(copy.at("x"));
  CHECK(x(id<seq>{0}, id<d_k>{1}) == 2);
  CHECK(x(id<seq>{1}, id<d_k>{0}) == 3);
  CHECK(refusal(npy("{'descr': '<f4', 'fortran_order': True, 'shape': (2,2), }", 8)) ==
        "x: expected the elements of its shape, [2, 2] F32; the file has 8 bytes after the header");
}

TEST_CASE("headers are checked before elements are read") {
  const std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  CHECK(parse_npy(bytes_of_text(npy(good, 8)), "x", "x").extents == std::vector<std::size_t>{2});
  CHECK(refusal("\x93NUMPX") == "x: expected a .npy file of format 1.0, 2.0 or 3.0");
  CHECK(refusal(npy(good, 8).substr(0, 30)) == "x: expected a header of 57 bytes; the file has 20 after its first 10");
  CHECK(refusal(npy(good, 7)) ==
        "x: expected the elements of its shape, [2] F32; the file has 7 bytes after the header");
  CHECK(refusal(npy("{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }", 8))
            .find("an element type that is known, little-endian, instead of \">f4\"") != std::string::npos);
  CHECK(refusal(npy("{'descr': '<f4', 'shape': (2,), }", 8)).find("expected descr, fortran_order and shape") !=
        std::string::npos);
  CHECK(
      refusal(npy("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", 8)).find("each once") !=
      std::string::npos);
  CHECK(refusal(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296,4294967296), }", 8))
            .find("expected the elements of its shape") != std::string::npos);
  CHECK(refusal(npy(good + "x", 8)).find("nothing after the dictionary") != std::string::npos);
  const dimwise_test::temporary_folder folder;
  const std::vector<std::byte> two(2);
  CHECK(dimwise_test::message([&] {
    write_npy(folder / "b", {"b", element_type::bf16, {1}, two});
  }).find("NumPy has no elements of the type BF16") != std::string::npos);
}

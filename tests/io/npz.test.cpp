// tests/io/npz.test.cpp -- .npz files: NumPy's own, what is written and read again, and files that are broken.
// SPDX-License-Identifier: BSL-1.0
#include "support.hpp"
#include <dimwise/io/arrays/tensors.hpp>
#include <dimwise/io/npz.hpp>

#include <doctest/doctest.h>

using namespace dimwise;
using namespace dimwise::io;
using dimwise_test::bytes_of_text;

namespace {

struct seq : position_dim<> {};
struct d_k : feature_dim<3> {};

// numpy.savez_compressed of NumPy 1.24.2 with a = [[1, 2, 3], [4, 5, 6]] of float32 and b = [7, 8] of int64.
std::string of_numpy() {
  constexpr std::string_view digits =
      "504b0304140000000800000021007c9cdea2580000009800000005001400612e6e707901001000980000000000000058000000000000009b"
      "ec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e9366a2aea3a09e965f54529498179f5f94920a12774bcc294e058a17672416a402f91a"
      "463a0ac69a3a0ab50a64032e0686067b060606072002e206205e00c4071c00504b03041400000008000000210020894d2b4a000000900000"
      "0005001400622e6e70790100100090000000000000004a000000000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e9369a1ae"
      "a3a09e965f54529498179f5f94920a12774bcc294e058a17672416a402f91a463a9a3a0ab50a14002e760608e080d200504b010214031400"
      "00000800000021007c9cdea25800000098000000050000000000000000000000800100000000612e6e7079504b0102140314000000080000"
      "00210020894d2b4a0000009000000005000000000000000000000080018f000000622e6e7079504b05060000000002000200660000001001"
      "00000000";
  std::string bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(std::string(digits.substr(i, 2)), nullptr, 16));
  }
  return bytes;
}
// The checksum of the only entry, which begins there: 128 bytes of header and 24 of elements.
std::uint32_t crc(const std::string& file, std::size_t begin) {
  std::uint32_t sum = 0xffffffffU;
  for (std::size_t i = begin; i < begin + 152; ++i) {
    sum ^= static_cast<unsigned char>(file[i]);
    for (int k = 0; k < 8; ++k) { sum = sum >> 1 ^ ((sum & 1U) != 0 ? 0xedb88320U : 0U); }
  }
  return ~sum;
}
std::string refusal(const std::string& file, std::size_t most_bytes = npz_bytes) {
  return dimwise_test::message([&] { (void)parse_npz(bytes_of_text(file), "x", most_bytes); });
}

}  // namespace

TEST_CASE("arrays that NumPy compressed are read by name") {
  const archive file = parse_npz(bytes_of_text(of_numpy()), "x");
  CHECK(file.arrays().size() == 2);
  const auto a = read_tensor<tensor<float, seq, d_k>>(file.at("a"));
  CHECK(extent_of<seq>(a) == 2);
  CHECK(a(id<seq>{1}, id<d_k>{2}) == 6);
  CHECK(read_tensor<tensor<std::int64_t, seq>>(file.at("b"))(id<seq>{1}) == 8);
}

TEST_CASE("tensors are written as a .npz file and read again") {
  const dimwise_test::temporary_folder folder;
  const tensor<float, seq, d_k> x({1, 2, 3, 4, 5, 6}, seq{2});
  const tensor<double> n(2.5);
  const tensor<float, seq> none(seq{0});
  const std::vector<stored_array> arrays{as_stored("layers.0.x", x), as_stored("n", n), as_stored("none", none)};
  write_npz(folder / "x.npz", arrays);
  const archive file = read_npz(folder / "x.npz");
  CHECK(file.arrays().size() == 3);
  CHECK(read_tensor<tensor<float, seq, d_k>>(file.at("layers.0.x"))(id<seq>{1}, id<d_k>{0}) == 4);
  CHECK(static_cast<double>(read_tensor<tensor<double>>(file.at("n"))) == 2.5);
  CHECK(file.at("none").extents == std::vector<std::size_t>{0});
  const auto bytes_of = [&](const char* name) {
    const file_bytes all(folder / name);
    return std::string(reinterpret_cast<const char*>(all.bytes().data()), all.bytes().size());
  };
  write_npz(folder / "again.npz", arrays);
  CHECK(bytes_of("again.npz") == bytes_of("x.npz"));  // no time of day in it
  // Nothing is half done: the old file stays, and no draft.
  const std::string before = bytes_of("x.npz");
  const std::vector<stored_array> twice{as_stored("x", x), as_stored("x", x)};
  CHECK(dimwise_test::message([&] { write_npz(folder / "x.npz", twice); }) ==
        (folder / "x.npz").string() + ": the file cannot be written: \"x\": File already exists");
  CHECK(bytes_of("x.npz") == before);
  const auto drafts = [&] {
    std::size_t count = 0;
    for (const auto& one : std::filesystem::directory_iterator(folder.path())) {
      count += one.path().extension() == ".partial" ? 1U : 0U;
    }
    return count;
  };
  CHECK(drafts() == 0);
  stored_array short_of_bytes = as_stored("x", x);
  short_of_bytes.extents = {9};
  CHECK(dimwise_test::message([&] {
    write_npz(folder / "x.npz", std::vector{short_of_bytes});
  }).find("bytes do not match F32 [9]") != std::string::npos);
  CHECK(dimwise_test::message([&] {
    write_npy(folder / "x.npy", short_of_bytes);
  }).find("bytes do not match F32 [9]") != std::string::npos);
  CHECK(dimwise_test::message([&] {
    write_npz(folder / "x.npz", std::vector{as_stored(std::string("a\0b", 3), x)});
  }).find("a name holds a NUL byte") != std::string::npos);
  CHECK(bytes_of("x.npz") == before);
  CHECK(drafts() == 0);
  write_npz(folder / "nothing.npz", {});
  const archive nothing = read_npz(folder / "nothing.npz");
  CHECK(nothing.arrays().empty());
  CHECK(dimwise_test::message([&] { write_npz(folder / "no" / "x.npz", arrays); }).find("cannot be written") !=
        std::string::npos);
}

TEST_CASE("an array in Fortran order is read from a .npz file") {
  // What NumPy writes for a transposed array, in an entry that is not compressed: made from one in C order, in place.
  const dimwise_test::temporary_folder folder;
  const tensor<float, seq, d_k> x({1, 2, 3, 4, 5, 6}, seq{2});
  write_npz(folder / "x.npz", std::vector{as_stored("x", x)});
  const io::file_bytes file(folder / "x.npz");
  std::string bytes(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
  const std::size_t at = bytes.find("'fortran_order': False, 'shape': (2, 3), }");
  REQUIRE(at != std::string::npos);
  const std::uint32_t before = crc(bytes, bytes.find("\x93NUMPY"));
  bytes.replace(at, 42, "'fortran_order': True,  'shape': (2, 3), }");
  const std::uint32_t after = crc(bytes, bytes.find("\x93NUMPY"));
  for (std::size_t i = 0; i + 4 <= bytes.size(); ++i) {
    if (std::memcmp(bytes.data() + i, &before, 4) == 0) { std::memcpy(bytes.data() + i, &after, 4); }
  }
  const archive read = parse_npz(bytes_of_text(bytes), "x");
  const auto y = read_tensor<tensor<float, seq, d_k>>(read.at("x"));  // 1, 2 are the first column
  CHECK(y(id<seq>{1}, id<d_k>{0}) == 2);
  CHECK(y(id<seq>{0}, id<d_k>{1}) == 3);
  CHECK(y(id<seq>{1}, id<d_k>{2}) == 6);
}

TEST_CASE("broken and hostile .npz files are one error") {
  const std::string good = of_numpy();
  CHECK(refusal("") == "x: expected a zip file, but it is empty");
  CHECK(refusal(good.substr(0, 200)) == "x: expected a zip file: Not a zip archive");
  std::string changed = good;
  changed[70] = static_cast<char>(changed[70] ^ 1);  // compressed bytes of a
  CHECK(refusal(changed).find("x: \"a.npy\": ") == 0);
  changed = good;
  for (std::size_t at = changed.find("a.npy"); at != std::string::npos; at = changed.find("a.npy", at + 1)) {
    changed.replace(at, 5, "a.txt");
  }
  CHECK(refusal(changed) == "x: \"a.txt\": expected a name that ends in .npy");
  changed = good;
  for (std::size_t at = changed.find("b.npy"); at != std::string::npos; at = changed.find("b.npy", at + 1)) {
    changed[at] = 'a';
  }
  CHECK(refusal(changed) == "x: expected a zip file: File already exists");
  CHECK(refusal(good, 200) ==
        "x: \"b.npy\": 144 bytes, where at most 48 of all arrays are left; read_npz takes the limit as its second "
        "argument");
  CHECK(refusal(good, 296).empty());
  // Every file that is cut or has one changed byte is read as it was, or refused.
  for (std::size_t n = 0; n < good.size(); ++n) {
    CHECK_FALSE(refusal(good.substr(0, n)).empty());
    changed = good;
    changed[n] = static_cast<char>(changed[n] ^ 0x55);
    (void)refusal(changed);
  }
}

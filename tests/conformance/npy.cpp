// tests/conformance/npy.cpp -- a strict reader of .npy files: what it does not know, it refuses.
// SPDX-License-Identifier: BSL-1.0
#include "suite.hpp"

#include <bit>
#include <cctype>
#include <cstring>
#include <fstream>
#include <map>

static_assert(std::endian::native == std::endian::little, "the arrays are read as they lie on disk");

namespace conformance {

namespace {

struct element_type {
  std::string_view dtype;
  std::size_t width;
};
const std::map<std::string_view, element_type> types{
    {"<f8", {"float64", 8}}, {"<f4", {"float32", 4}}, {"<f2", {"float16", 2}}, {"<i8", {"int64", 8}},
    {"<i4", {"int32", 4}},   {"<i2", {"int16", 2}},   {"|i1", {"int8", 1}},    {"<u8", {"uint64", 8}},
    {"<u4", {"uint32", 4}},  {"<u2", {"uint16", 2}},  {"|u1", {"uint8", 1}},   {"|b1", {"bool", 1}}};

// The dictionary of a header: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
class header {
 public:
  header(const std::string& file, std::string_view text) : file_(file), text_(text) {
    take('{');
    while (!peek('}')) {
      const std::string_view key = quoted();
      take(':');
      if (key == "descr") {
        const auto found = types.find(quoted());
        if (found == types.end()) { refuse("an element type that is known"); }
        type = found->second;
      } else if (key == "fortran_order") {
        fortran = boolean();
      } else if (key == "shape") {
        extents();
      } else {
        refuse("descr, fortran_order and shape alone");
      }
      ++keys_;
      if (!peek('}')) { take(','); }
    }
    take('}');
    if (keys_ != 3) { refuse("descr, fortran_order and shape"); }
    spaces();
    if (!text_.empty()) { refuse("nothing behind the dictionary"); }
  }

  element_type type{};
  bool fortran = false;
  std::vector<std::size_t> shape;

 private:
  [[noreturn]] void refuse(const std::string& expected) const {
    throw std::runtime_error(file_ + ": expected " + expected + " in the header of a .npy file, before \"" +
                             std::string(text_.substr(0, 24)) + "\"");
  }
  void spaces() {
    while (!text_.empty() && std::isspace(static_cast<unsigned char>(text_.front())) != 0) { text_.remove_prefix(1); }
  }
  bool peek(char c) {
    spaces();
    return !text_.empty() && text_.front() == c;
  }
  void take(char c) {
    if (!peek(c)) { refuse(std::string("'") + c + "'"); }
    text_.remove_prefix(1);
  }
  std::string_view quoted() {
    take('\'');
    const std::size_t end = text_.find('\'');
    if (end == std::string_view::npos) { refuse("a closing quote"); }
    const std::string_view word = text_.substr(0, end);
    text_.remove_prefix(end + 1);
    return word;
  }
  bool boolean() {
    spaces();
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (text_.starts_with(word)) {
        text_.remove_prefix(word.size());
        return value;
      }
    }
    refuse("True or False");
  }
  void extents() {
    take('(');
    while (!peek(')')) {
      std::size_t n = 0;
      std::size_t digits = 0;
      while (!text_.empty() && std::isdigit(static_cast<unsigned char>(text_.front())) != 0) {
        if (++digits > 15) { refuse("an extent below 10^15"); }
        n = 10 * n + static_cast<std::size_t>(text_.front() - '0');
        text_.remove_prefix(1);
      }
      if (digits == 0) { refuse("an extent"); }
      shape.push_back(n);
      if (!peek(')')) { take(','); }
    }
    take(')');
  }

  const std::string& file_;
  std::string_view text_;
  int keys_ = 0;
};

}  // namespace

array read_npy(const std::string& file) {
  const auto refuse = [&](const std::string& expected) { throw std::runtime_error(file + ": expected " + expected); };
  std::ifstream stream(file, std::ios::binary | std::ios::ate);
  if (!stream) { refuse("a readable .npy file"); }
  const auto length = static_cast<std::size_t>(stream.tellg());
  stream.seekg(0);
  char magic[10] = {};
  if (length < sizeof magic || !stream.read(magic, sizeof magic) || std::memcmp(magic, "\x93NUMPY\x01\x00", 8) != 0) {
    refuse("a .npy file of format 1.0");
  }
  std::uint16_t header_length = 0;
  std::memcpy(&header_length, magic + 8, 2);
  if (header_length > length - sizeof magic) {
    refuse("a header of " + std::to_string(header_length) + " bytes; the file has " +
           std::to_string(length - sizeof magic) + " behind its first 10");
  }
  std::string text(header_length, ' ');
  stream.read(text.data(), header_length);
  const header head(file, text);
  if (head.fortran && head.shape.size() > 1) { refuse("elements in C order"); }
  // By division, so that no product of extents can overflow unnoticed.
  const std::size_t bytes = length - sizeof magic - header_length;
  std::size_t room = bytes / head.type.width;
  bool empty = false;
  bool fits = bytes % head.type.width == 0;
  for (const std::size_t n : head.shape) { empty = empty || n == 0; }
  for (const std::size_t n : head.shape) {
    if (!empty) {
      fits = fits && room % n == 0;
      room /= n;
    }
  }
  if (!fits || (empty ? bytes != 0 : room != 1)) {
    std::string shape;
    for (const std::size_t n : head.shape) { shape += (shape.empty() ? "" : " x ") + std::to_string(n); }
    refuse("the elements of its shape, " + shape + " " + std::string(head.type.dtype) + "; the file has " +
           std::to_string(bytes) + " bytes behind the header");
  }
  std::shared_ptr<std::byte[]> memory(new std::byte[bytes + 1]);
  stream.read(reinterpret_cast<char*>(memory.get()), static_cast<std::streamsize>(bytes));
  return {file, std::string(head.type.dtype), head.shape, std::shared_ptr<const std::byte>(memory, memory.get())};
}

}  // namespace conformance

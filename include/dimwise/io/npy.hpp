// SPDX-License-Identifier: BSL-1.0
// dimwise/io/npy.hpp -- a reader and writer of NumPy's .npy files.
//
// Layer: io. Formats 1.0, 2.0 and 3.0; little-endian elements. Checks header, size and order first, and converts
// Fortran order to C order.
// Tests: tests/io/npy.test.cpp, every conformance suite that is a folder
//
//   auto x = read_tensor<tensor<float, batch, seq, d_model>>(read_npy("x.npy").at("x"));
//   write_npy("y.npy", as_stored("y", y));
#pragma once

#include <dimwise/io/archive.hpp>
#include <dimwise/io/files/new_file.hpp>
#include <dimwise/tensor/misused.hpp>

#include <algorithm>
#include <iterator>
#include <memory>

namespace dimwise::op {
struct write_npy;
}  // namespace dimwise::op

namespace dimwise::io {

namespace detail {

struct npy_type {
  std::string_view word;
  element_type type;
};
inline constexpr npy_type npy_types[] = {
    {"<f8", element_type::f64}, {"<f4", element_type::f32}, {"<f2", element_type::f16}, {"<i8", element_type::i64},
    {"<i4", element_type::i32}, {"<i2", element_type::i16}, {"|i1", element_type::i8},  {"<u8", element_type::u64},
    {"<u4", element_type::u32}, {"<u2", element_type::u16}, {"|u1", element_type::u8},  {"|b1", element_type::boolean}};

// Parses the dictionary of a header: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
class npy_header {
 public:
  npy_header(const std::string& file, std::string_view text) : file_(file), text_(text) {
    take('{');
    while (!peek('}')) {
      entry(quoted());
      if (!peek('}')) { take(','); }
    }
    take('}');
    if (seen_ != 7) { refuse("descr, fortran_order and shape"); }
    spaces();
    if (!text_.empty()) { refuse("nothing after the dictionary"); }
  }

  element_type type = element_type::f32;
  bool fortran = false;
  std::vector<std::size_t> extents{};

 private:
  void entry(std::string_view key) {
    const unsigned which = key == "descr" ? 1U : key == "fortran_order" ? 2U : key == "shape" ? 4U : 0U;
    if (which == 0 || (seen_ & which) != 0) { refuse("descr, fortran_order and shape, each once"); }
    seen_ |= which;
    take(':');
    if (which == 1) {
      const std::string_view word = quoted();
      const auto* const known =
          std::find_if(std::begin(npy_types), std::end(npy_types), [&](const npy_type& t) { return t.word == word; });
      if (known == std::end(npy_types)) {
        refuse("an element type that is known, little-endian, instead of " + printable(word));
      }
      type = known->type;
    } else if (which == 2) {
      fortran = boolean();
    } else {
      numbers();
    }
  }
  [[noreturn]] void refuse(const std::string& expected) const {
    throw file_error(file_ + ": expected " + expected + " in the header of a .npy file, before " +
                     printable(text_.substr(0, 24)));
  }
  void spaces() {
    while (!text_.empty() && (text_.front() == ' ' || text_.front() == '\n' || text_.front() == '\t')) {
      text_.remove_prefix(1);
    }
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
    spaces();
    const char quote = !text_.empty() && text_.front() == '"' ? '"' : '\'';
    take(quote);
    const std::size_t end = text_.find(quote);
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
  void numbers() {
    take('(');
    while (!peek(')')) {
      std::size_t n = 0;
      std::size_t digits = 0;
      while (!text_.empty() && text_.front() >= '0' && text_.front() <= '9') {
        if (++digits > 18) { refuse("an extent below 10^18"); }
        n = 10 * n + static_cast<std::size_t>(text_.front() - '0');
        text_.remove_prefix(1);
      }
      if (digits == 0) { refuse("an extent"); }
      if (extents.size() == 64) { refuse("at most 64 extents"); }
      extents.push_back(n);
      if (!peek(')')) { take(','); }
    }
    take(')');
  }

  const std::string& file_;
  std::string_view text_;
  unsigned seen_ = 0;
};

// The header of a file of format 1.0.
inline std::string npy_head(const std::string& title, const stored_array& array) {
  check_bytes(title, array);
  const auto* const known =
      std::find_if(std::begin(npy_types), std::end(npy_types), [&](const npy_type& t) { return t.type == array.type; });
  if (known == std::end(npy_types)) {
    throw file_error(title + ": NumPy has no elements of the type " + std::string(name_of(array.type)));
  }
  std::string shape;
  for (const std::size_t n : array.extents) { shape += std::to_string(n) + ", "; }
  if (array.extents.size() > 1) { shape.resize(shape.size() - 2); }
  std::string text =
      "{'descr': '" + std::string(known->word) + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  text.append(63 - (10 + text.size()) % 64, ' ');
  text += '\n';
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(text.size() % 256) +
         static_cast<char>(text.size() / 256) + text;
}

// Reorders elements of `size` bytes from Fortran order to C order.
inline std::vector<std::byte> in_c_order(std::span<const std::byte> from, const std::vector<std::size_t>& extents,
                                         std::size_t size) {
  std::vector<std::byte> to(from.size());
  std::vector<std::size_t> strides;
  for (std::size_t stride = size; const std::size_t n : extents) {
    strides.push_back(stride);
    stride *= n;
  }
  std::vector<std::size_t> at(extents.size());
  std::size_t source = 0;
  for (std::size_t k = 0; k < to.size(); k += size) {
    std::memcpy(to.data() + k, from.data() + source, size);
    for (std::size_t d = extents.size(); d-- > 0;) {
      source += strides[d];
      if (++at[d] < extents[d]) { break; }
      source -= strides[d] * extents[d];
      at[d] = 0;
    }
  }
  return to;
}

}  // namespace detail

/// The array of a .npy file in memory, with this name. It borrows `bytes`; elements in Fortran order are copied into C
/// order. Throws `file_error`.
[[nodiscard]] inline stored_array parse_npy(std::span<const std::byte> bytes, const std::string& title,
                                            const std::string& name) {
  const auto refuse = [&](const std::string& expected) { throw file_error(title + ": expected " + expected); };
  const auto byte = [&](std::size_t i) { return std::to_integer<std::size_t>(bytes[i]); };
  if (bytes.size() < 10 || std::memcmp(bytes.data(), "\x93NUMPY", 6) != 0 || byte(6) < 1 || byte(6) > 3 ||
      byte(7) != 0) {
    refuse("a .npy file of format 1.0, 2.0 or 3.0");
  }
  const std::size_t start = byte(6) == 1 ? 10 : 12;
  if (bytes.size() < start) { refuse("the length of a header"); }
  const std::size_t length =
      byte(6) == 1 ? byte(8) + 256 * byte(9) : byte(8) + 256 * (byte(9) + 256 * (byte(10) + 256 * byte(11)));
  if (length > bytes.size() - start) {
    refuse("a header of " + std::to_string(length) + " bytes; the file has " + std::to_string(bytes.size() - start) +
           " after its first " + std::to_string(start));
  }
  const detail::npy_header head(title, {reinterpret_cast<const char*>(bytes.data()) + start, length});
  const auto data = bytes.subspan(start + length);
  const auto count = count_of(head.extents);
  const auto needed = count ? bytes_of(head.type, *count) : std::nullopt;
  if (needed != data.size()) {
    refuse("the elements of its shape, " + detail::listed(head.extents) + " " + std::string(name_of(head.type)) +
           "; the file has " + std::to_string(data.size()) + " bytes after the header");
  }
  stored_array array{name, head.type, head.extents, data};
  if (head.fortran && head.extents.size() > 1 && !data.empty()) {
    const std::size_t size = detail::facts_of(head.type).bits / 8;
    array.own = std::make_shared<const std::vector<std::byte>>(detail::in_c_order(data, head.extents, size));
    array.bytes = *array.own;
  }
  return array;
}

/// An archive of one array, named like the file without ".npy". Throws `file_error`.
[[nodiscard]] inline archive read_npy(const std::filesystem::path& path, file_access how = file_access::mapped) {
  const auto file = std::make_shared<const file_bytes>(path, how);
  archive result(path.string());
  result.add(parse_npy(file->bytes(), path.string(), path.stem().string()));
  result.keep(file);
  return result;
}

/// Writes an array atomically as a .npy file of format 1.0. Throws `file_error`.
inline void write_npy(const std::filesystem::path& path, const stored_array& array) {
  const std::string head = detail::npy_head(path.string(), array);
  new_file file(path);
  file.write(std::as_bytes(std::span(head)));
  file.write(array.bytes);
  file.finish();
}
DIMWISE_DETAIL_MISUSED(write_npy)

}  // namespace dimwise::io

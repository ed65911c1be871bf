// SPDX-License-Identifier: BSL-1.0
// dimwise/io/gguf.hpp -- a reader of GGUF files, versions 2 and 3: F32, F16, BF16, Q8_0, Q4_0 and integers.
//
// Layer: io. GGUF lists the fastest extent first; archives list the slowest first, like all readers of dimwise.
// Tests: tests/io/gguf.test.cpp
//
//   const archive file = read_gguf("model.gguf");      file.metadata().at("general.architecture")
#pragma once

#include <dimwise/io/archive.hpp>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <memory>
#include <set>
#include <string_view>

namespace dimwise::io {

namespace detail {

struct gguf_type {
  std::uint32_t number;
  std::string_view name;
  std::optional<element_type> type = {};  // empty: rejected by name
};
inline constexpr gguf_type gguf_types[] = {{0, "F32", element_type::f32},
                                           {1, "F16", element_type::f16},
                                           {2, "Q4_0", element_type::q4_0},
                                           {3, "Q4_1"},
                                           {6, "Q5_0"},
                                           {7, "Q5_1"},
                                           {8, "Q8_0", element_type::q8_0},
                                           {9, "Q8_1"},
                                           {10, "Q2_K"},
                                           {11, "Q3_K"},
                                           {12, "Q4_K"},
                                           {13, "Q5_K"},
                                           {14, "Q6_K"},
                                           {15, "Q8_K"},
                                           {16, "IQ2_XXS"},
                                           {17, "IQ2_XS"},
                                           {18, "IQ3_XXS"},
                                           {19, "IQ1_S"},
                                           {20, "IQ4_NL"},
                                           {21, "IQ3_S"},
                                           {22, "IQ2_S"},
                                           {23, "IQ4_XS"},
                                           {24, "I8", element_type::i8},
                                           {25, "I16", element_type::i16},
                                           {26, "I32", element_type::i32},
                                           {27, "I64", element_type::i64},
                                           {28, "F64", element_type::f64},
                                           {29, "IQ1_M"},
                                           {30, "BF16", element_type::bf16},
                                           {34, "TQ1_0"},
                                           {35, "TQ2_0"},
                                           {39, "MXFP4"}};

// Parses a GGUF file; every length is compared with the remaining bytes before its use.
class gguf_reader {
 public:
  gguf_reader(std::span<const std::byte> bytes, archive& to) : bytes_(bytes), to_(to) {
    if (bytes.size() < 4 || std::memcmp(bytes.data(), "GGUF", 4) != 0) { refuse("it does not begin with GGUF"); }
    at_ = 4;
    const auto version = number<std::uint32_t>();
    if (version == 3U << 24) { refuse("it is big-endian, little-endian was expected"); }
    if (version != 2 && version != 3) {  // equal layouts; version 1 has 32-bit lengths
      refuse("it has version " + std::to_string(version) + ", 2 or 3 was expected");
    }
    const auto tensors = number<std::uint64_t>();
    const auto settings = number<std::uint64_t>();
    check_count(tensors, 24, "tensors");
    check_count(settings, 13, "settings");
    for (std::uint64_t i = 0; i < settings; ++i) { setting(); }
    std::vector<place> places;
    for (std::uint64_t i = 0; i < tensors; ++i) { places.push_back(tensor_facts()); }
    put(places);
  }

 private:
  struct place {
    stored_array array{};
    std::uint64_t offset = 0;
    std::size_t size = 0;
  };

  [[noreturn]] void refuse(const std::string& what) const {
    throw file_error(to_.title() + ": not a GGUF file: " + what);
  }
  [[nodiscard]] std::size_t left() const { return bytes_.size() - at_; }
  void need(std::uint64_t n) const {
    if (n > left()) {
      refuse(std::to_string(n) + " bytes were expected at byte " + std::to_string(at_) + ", " + std::to_string(left()) +
             " are left");
    }
  }
  // Each element takes at least `least` bytes: rejects impossible counts before any memory is reserved.
  void check_count(std::uint64_t n, std::uint64_t least, const char* what) const {
    if (n > left() / least) {
      refuse(std::to_string(n) + " " + what + " do not fit into the " + std::to_string(left()) +
             " bytes that are left");
    }
  }
  template <class T>
  T number() {
    need(sizeof(T));
    T value;
    std::memcpy(&value, bytes_.data() + at_, sizeof(T));
    at_ += sizeof(T);
    return value;
  }
  std::string text() {
    const auto length = number<std::uint64_t>();
    need(length);
    std::string word(reinterpret_cast<const char*>(bytes_.data()) + at_, length);
    at_ += length;
    return word;
  }

  void setting() {
    std::string key = text();
    if (key.empty()) { refuse("a setting has no name"); }
    if (to_.metadata().contains(key)) { refuse("two settings are named " + printable(key)); }
    const auto type = number<std::uint32_t>();
    std::string value = this->value(type, 0);
    if (key == "general.alignment") {
      if (type != 4) { refuse("general.alignment is not a 32-bit number"); }
      alignment_ = static_cast<std::size_t>(std::stoul(value));
      if (alignment_ == 0 || (alignment_ & (alignment_ - 1)) != 0 || alignment_ > 1U << 20) {
        refuse("general.alignment is " + value + ", a power of two up to 2^20 was expected");
      }
    }
    to_.add_text(key, std::move(value));
  }
  // The fewest digits that reproduce the number.
  template <class T>
  static std::string shortest(T x) {
    char digits[32];
    const auto end = std::to_chars(digits, digits + sizeof digits, x).ptr;
    return {digits, end};
  }
  // Skips list elements without storing them: a list may be most of the file.
  void skip(std::uint32_t type, std::uint64_t n, int depth) {
    constexpr std::size_t sizes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    const std::size_t size = type < std::size(sizes) ? sizes[type] : 0;
    if (size > 0) {
      check_count(n, size, "elements of a list");
      at_ += static_cast<std::size_t>(n) * size;
      return;
    }
    check_count(n, type == 9 ? 12 : 8, "elements of a list");
    for (std::uint64_t i = 0; i < n; ++i) {
      if (type == 8) {
        const auto length = number<std::uint64_t>();
        need(length);
        at_ += static_cast<std::size_t>(length);
      } else {
        (void)value(type, depth);
      }
    }
  }
  // A setting as text; a list as its length.
  std::string value(std::uint32_t type, int depth) {
    switch (type) {
      case 0:
        return std::to_string(number<std::uint8_t>());
      case 1:
        return std::to_string(number<std::int8_t>());
      case 2:
        return std::to_string(number<std::uint16_t>());
      case 3:
        return std::to_string(number<std::int16_t>());
      case 4:
        return std::to_string(number<std::uint32_t>());
      case 5:
        return std::to_string(number<std::int32_t>());
      case 6:
        return shortest(number<float>());
      case 7:
        return number<std::uint8_t>() != 0 ? "true" : "false";
      case 8:
        return text();
      case 10:
        return std::to_string(number<std::uint64_t>());
      case 11:
        return std::to_string(number<std::int64_t>());
      case 12:
        return shortest(number<double>());
      case 9: {
        const auto of = number<std::uint32_t>();
        const auto n = number<std::uint64_t>();
        if (depth == 4) { refuse("lists are nested deeper than 4 levels"); }
        skip(of, n, depth + 1);
        return "list of " + std::to_string(n);
      }
      default:
        refuse("a setting has the unknown type " + std::to_string(type));
    }
  }

  place tensor_facts() {
    place p;
    p.array.name = text();
    const auto rank = number<std::uint32_t>();
    const std::string name = printable(p.array.name);
    if (p.array.name.size() > 64) {
      refuse(name + " has a name of " + std::to_string(p.array.name.size()) + " bytes, at most 64 were expected");
    }
    if (rank > 4) { refuse(name + " has " + std::to_string(rank) + " extents, at most 4 were expected"); }
    for (std::uint32_t i = 0; i < rank; ++i) {
      p.array.extents.push_back(static_cast<std::size_t>(number<std::uint64_t>()));
    }
    const std::size_t row = rank > 0 ? p.array.extents.front() : 1;
    std::reverse(p.array.extents.begin(), p.array.extents.end());
    const auto number_of_type = number<std::uint32_t>();
    const auto* const known = std::find_if(std::begin(gguf_types), std::end(gguf_types),
                                           [&](const gguf_type& t) { return t.number == number_of_type; });
    if (known == std::end(gguf_types) || !known->type) {
      refuse(name + " has the type " +
             (known == std::end(gguf_types) ? std::to_string(number_of_type) : std::string(known->name)) +
             ", F32, F16, BF16, Q8_0, Q4_0, F64, I8, I16, I32 or I64 was expected");
    }
    p.array.type = *known->type;
    p.offset = number<std::uint64_t>();
    const auto count = count_of(p.array.extents);
    const auto bytes = count ? bytes_of(p.array.type, *count) : std::nullopt;
    if (!bytes || row % facts_of(p.array.type).block != 0) {
      refuse(name + " (" + std::string(name_of(p.array.type)) + " " + listed(p.array.extents) +
             ") is too large or has rows that end within a block");
    }
    p.size = *bytes;
    return p;
  }
  void put(std::vector<place>& places) {
    std::set<std::string_view> names;
    for (const place& p : places) {
      if (!names.insert(p.array.name).second) { refuse("two tensors are named " + printable(p.array.name)); }
    }
    const std::size_t start = at_ + (alignment_ - at_ % alignment_) % alignment_;
    std::vector<const place*> order;
    order.reserve(places.size());
    for (const place& p : places) { order.push_back(&p); }
    std::sort(order.begin(), order.end(), [](const place* a, const place* b) {
      return a->offset != b->offset ? a->offset < b->offset : a->size < b->size;
    });
    std::uint64_t end = 0;
    for (const place* p : order) {
      const std::string name = printable(p->array.name);
      if (p->offset % alignment_ != 0) { refuse(name + " is not aligned to " + std::to_string(alignment_) + " bytes"); }
      if (p->offset < end) { refuse(name + " overlaps another tensor"); }
      if (start > bytes_.size() || p->offset > bytes_.size() - start || p->size > bytes_.size() - start - p->offset) {
        refuse(name + " has " + std::to_string(p->size) + " bytes from " + std::to_string(p->offset) +
               ", the file has " + std::to_string(bytes_.size() - std::min(start, bytes_.size())) +
               " after its header");
      }
      end = p->offset + p->size;
    }
    for (place& p : places) {
      p.array.bytes = p.size == 0 ? std::span<const std::byte>() : bytes_.subspan(start + p.offset, p.size);
      to_.add(std::move(p.array));
    }
  }

  std::span<const std::byte> bytes_;
  archive& to_;
  std::size_t at_ = 0;
  std::size_t alignment_ = 32;
};

}  // namespace detail

/// The arrays of a GGUF file in memory, with its settings as metadata; lists are given by their length. Throws
/// `file_error`.
[[nodiscard]] inline archive parse_gguf(std::span<const std::byte> bytes, const std::string& title) {
  archive result(title);
  (void)detail::gguf_reader(bytes, result);
  return result;
}
/// The arrays of a GGUF file. Throws `file_error`.
[[nodiscard]] inline archive read_gguf(const std::filesystem::path& path, file_access how = file_access::mapped) {
  const auto file = std::make_shared<const file_bytes>(path, how);
  archive result = parse_gguf(file->bytes(), path.string());
  result.keep(file);
  return result;
}

}  // namespace dimwise::io

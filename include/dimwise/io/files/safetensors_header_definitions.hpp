// SPDX-License-Identifier: BSL-1.0
// dimwise/io/files/safetensors_header_definitions.hpp -- the header of a safetensors file.
//
// Layer: io.
#pragma once

#include <dimwise/io/safetensors.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dimwise::io::detail {

inline constexpr std::size_t longest_header = 100'000'000;  // the limit of the reference parser

// Parses the header of a safetensors file without a tree: a hostile header uses no more memory than its names.
class header_reader : public nlohmann::json_sax<nlohmann::json> {
 public:
  struct entry {
    stored_array array{};
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };
  std::vector<entry> entries{};
  std::map<std::string, std::string> metadata{};
  std::string problem{};

  bool null() override {
    if (at_ == place::type_named) {
      at_ = place::type_done;
      return true;
    }
    return at_ == place::ignored || (at_ == place::metadata && depth_ == 1 && leave()) || wrong();
  }
  bool boolean(bool) override { return at_ == place::ignored || wrong(); }
  bool number_integer(std::int64_t) override { return at_ == place::ignored || wrong(); }  // negative, or −0
  bool number_float(double, const std::string&) override { return at_ == place::ignored || wrong(); }
  bool binary(nlohmann::json::binary_t&) override { return wrong(); }
  bool number_unsigned(std::uint64_t n) override {
    if (at_ == place::ignored) { return true; }
    if (depth_ != 3) { return wrong(); }
    switch (at_) {
      case place::extents:
        entries.back().array.extents.push_back(static_cast<std::size_t>(n));
        return true;
      case place::offsets:
        if (offsets_ == 2) { return wrong(); }
        (offsets_++ == 0 ? entries.back().begin : entries.back().end) = n;
        return true;
      default:
        return wrong();
    }
  }
  bool string(std::string& text) override {
    if (at_ == place::ignored) { return true; }
    if (at_ == place::metadata && depth_ == 2) {
      metadata.insert_or_assign(key_, std::move(text));
      return true;
    }
    if (at_ != place::type) { return wrong(); }
    return type(text) && leave();
  }
  bool key(std::string& text) override {
    if (at_ == place::ignored && depth_ > ignored_depth_) { return true; }
    if (at_ == place::metadata && depth_ == 2) {
      key_ = std::move(text);
      return true;
    }
    if (depth_ == 3) {  // a dtype given as an object
      if (at_ != place::type_object) { return wrong(); }
      at_ = place::type_named;
      return type(text);
    }
    return depth_ == 1 ? top_level(text) : field(text);
  }
  bool start_object(std::size_t) override {
    if (++depth_ >= 128) { return refuse("it is nested deeper than 127 levels"); }
    if (at_ == place::ignored || depth_ == 1) { return true; }
    if (depth_ == 3 && at_ == place::type) {
      at_ = place::type_object;
      return true;
    }
    return (depth_ == 2 && (at_ == place::metadata || (at_ == place::entry && !in_list_))) || wrong();
  }
  bool end_object() override {
    --depth_;
    if (at_ == place::ignored && depth_ >= ignored_depth_) { return true; }
    if (depth_ == 2) { return at_ == place::type_done ? leave() : wrong(); }
    if (depth_ == 1 && at_ != place::metadata && fields_ != 7) {
      return refuse(name() + " lacks one of dtype, shape and data_offsets");
    }
    at_ = place::top;
    return true;
  }
  bool start_array(std::size_t) override {
    if (++depth_ >= 128) { return refuse("it is nested deeper than 127 levels"); }
    if (depth_ == 2 && at_ == place::entry) {
      in_list_ = true;
      return leave();
    }
    return at_ == place::ignored || (depth_ == 3 && (at_ == place::extents || at_ == place::offsets)) || wrong();
  }
  bool end_array() override {
    --depth_;
    if (at_ == place::ignored) { return true; }
    if (depth_ == 1) {  // the fields of a tensor
      in_list_ = false;
      return (at_ == place::entry && leave()) || wrong();
    }
    if (at_ == place::offsets && offsets_ != 2) { return wrong(); }
    return leave();
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception&) override {
    return refuse("it is not JSON at byte " + std::to_string(position));
  }

 private:
  // The next expected token. The fields of a tensor are named, or, as in the reference parser, a list of type, shape
  // and offsets. A type is a string, or an object with this string as a key and null.
  enum class place : unsigned char {
    top,
    metadata,
    entry,  // a field, or the end
    type,
    type_object,
    type_named,
    type_done,
    extents,
    offsets,
    ignored
  };

  bool top_level(std::string& text) {
    if (text == "__metadata__") {
      if (has_metadata_) { return refuse("it has __metadata__ twice"); }
      has_metadata_ = true;
      at_ = place::metadata;
      return true;
    }
    entries.emplace_back();
    entries.back().array.name = std::move(text);
    at_ = place::entry;
    fields_ = 0;
    return true;
  }
  bool field(const std::string& text) {
    const unsigned which = text == "dtype" ? 1U : text == "shape" ? 2U : text == "data_offsets" ? 4U : 0U;
    if ((fields_ & which) != 0) { return refuse(name() + " has " + text + " twice"); }
    look_for(which);
    return true;
  }
  void look_for(unsigned which) {
    fields_ |= which;
    offsets_ = 0;
    ignored_depth_ = depth_;
    at_ = which == 1 ? place::type : which == 2 ? place::extents : which == 4 ? place::offsets : place::ignored;
  }
  bool leave() {
    at_ = depth_ == 1 ? place::top : place::entry;
    if (in_list_) {
      const unsigned next = fields_ + 1;  // fields_ is 0, 1, 3, and finally 7
      if (next < 8) { look_for(next); }
    }
    return true;
  }
  bool type(const std::string& text) {
    const auto known = element_type_named(text);
    if (!known) {
      return refuse("the element type " + printable(text) + " of " + name() + " is not one of safetensors");
    }
    entries.back().array.type = *known;
    return true;
  }
  [[nodiscard]] std::string name() const { return printable(entries.back().array.name); }
  bool wrong() {
    constexpr std::string_view expected[] = {"it is not an object of tensors",
                                             "__metadata__ is not an object of strings",
                                             "is not an object with dtype, shape and data_offsets",
                                             "has a dtype that is not a string",
                                             "has a dtype that is not a string",
                                             "has a dtype that is not a string",
                                             "has a dtype that is not a string",
                                             "has a shape that is not a list of integers below 2^64",
                                             "has data_offsets that are not two integers below 2^64",
                                             ""};
    const bool of_entry = at_ >= place::entry && !entries.empty();
    return refuse((of_entry ? name() + " " : "") + std::string(expected[static_cast<std::size_t>(at_)]));
  }
  bool refuse(std::string why) {
    if (problem.empty()) { problem = std::move(why); }
    return false;
  }

  place at_ = place::top;
  int depth_ = 0;
  int ignored_depth_ = 0;
  unsigned fields_ = 0;
  int offsets_ = 0;
  bool in_list_ = false;
  bool has_metadata_ = false;
  std::string key_{};
};

// nlohmann's parser accepts a byte-order mark before the text and stops at a NUL; JSON permits neither.
inline void read_header(header_reader& to, std::string_view text) {
  if (text.find('\0') != std::string_view::npos) {
    to.problem = "it holds a NUL byte";
  } else if (text.starts_with("\xef\xbb\xbf")) {
    to.problem = "it begins with a byte-order mark";
  } else if (!nlohmann::json::sax_parse(text.begin(), text.end(), &to) && to.problem.empty()) {
    to.problem = "it is not JSON";
  }
}

// Checks that every byte belongs to one tensor, in the order of their offsets.
inline std::string check_places(std::vector<header_reader::entry>& entries, std::size_t data_size) {
  std::vector<const header_reader::entry*> by_place;
  by_place.reserve(entries.size());
  for (const auto& e : entries) { by_place.push_back(&e); }
  std::sort(by_place.begin(), by_place.end(),
            [](const auto* a, const auto* b) { return a->begin != b->begin ? a->begin < b->begin : a->end < b->end; });
  std::uint64_t at = 0;
  for (const auto* e : by_place) {
    const std::string name = printable(e->array.name);
    if (e->begin != at || e->end < e->begin) {
      return name + " has the bytes from " + std::to_string(e->begin) + " to " + std::to_string(e->end) + ", byte " +
             std::to_string(at) + " was expected first";
    }
    at = e->end;
    const auto count = count_of(e->array.extents);
    const auto bytes = count ? bytes_of(e->array.type, *count) : std::nullopt;
    const std::uint64_t needed = bytes.value_or(0);
    if (!bytes || needed != e->end - e->begin) {
      return name + " has " + std::to_string(e->end - e->begin) + " bytes, " + std::string(name_of(e->array.type)) +
             " " + listed(e->array.extents) +
             (bytes ? " needs " + std::to_string(needed) : " does not need a whole number of bytes below 2^61");
    }
  }
  if (at != data_size) {
    return "the tensors have " + std::to_string(at) + " bytes, the file has " + std::to_string(data_size) +
           " after its header";
  }
  return {};
}

}  // namespace dimwise::io::detail

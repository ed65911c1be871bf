// SPDX-License-Identifier: BSL-1.0
// dimwise/io/safetensors_definitions.hpp -- the safetensors format (support/library.hpp).
//
// Layer: io.
#pragma once

#include <dimwise/io/files/new_file.hpp>
#include <dimwise/io/files/safetensors_header_definitions.hpp>
#include <dimwise/io/safetensors.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dimwise::io {

DIMWISE_DETAIL_LIBRARY archive parse_safetensors(std::span<const std::byte> bytes, const std::string& title) {
  const auto refuse = [&](const std::string& what) { throw file_error(title + ": not a safetensors file: " + what); };
  std::uint64_t length = 0;
  if (bytes.size() < sizeof length) { refuse("8 bytes were expected, it has " + std::to_string(bytes.size())); }
  std::memcpy(&length, bytes.data(), sizeof length);
  const std::size_t room = bytes.size() - sizeof length;
  constexpr std::string_view pointer = "version https://git-lfs";
  if (std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()).starts_with(pointer)) {
    refuse("it is a pointer of Git LFS; `git lfs pull` brings the file");
  }
  if (length > detail::longest_header || length > room) {
    refuse("a header of " + std::to_string(length) + " bytes does not fit; the limit is " +
           std::to_string(std::min(room, detail::longest_header)));
  }
  detail::header_reader header;
  const auto header_size = static_cast<std::size_t>(length);
  detail::read_header(header, {reinterpret_cast<const char*>(bytes.data()) + sizeof length, header_size});
  if (!header.problem.empty()) { refuse("in its header, " + header.problem); }
  std::set<std::string_view> names;
  for (const auto& e : header.entries) {
    if (!names.insert(e.array.name).second) { refuse("two tensors are named " + detail::printable(e.array.name)); }
  }
  const std::span<const std::byte> data = bytes.subspan(sizeof length + header_size);
  if (const std::string problem = detail::check_places(header.entries, data.size()); !problem.empty()) {
    refuse(problem);
  }
  archive result(title);
  for (auto& e : header.entries) {
    e.array.bytes = data.subspan(e.begin, e.end - e.begin);
    result.add(std::move(e.array));
  }
  for (auto& [key, text] : header.metadata) { result.add_text(key, std::move(text)); }
  return result;
}

DIMWISE_DETAIL_LIBRARY archive read_safetensors(const std::filesystem::path& path, file_access how) {
  const auto file = std::make_shared<const file_bytes>(path, how);
  archive result = parse_safetensors(file->bytes(), path.string());
  result.keep(file);
  return result;
}

DIMWISE_DETAIL_LIBRARY void write_safetensors(const std::filesystem::path& path, std::span<const stored_array> arrays,
                                              const std::map<std::string, std::string>& metadata) {
  detail::write_arrays(path, arrays, metadata, nullptr);
}

DIMWISE_DETAIL_LIBRARY std::vector<const stored_array*> detail::in_file_order(std::span<const stored_array> arrays) {
  std::vector<const stored_array*> order;
  for (const stored_array& a : arrays) { order.push_back(&a); }
  const auto width = [](const stored_array* a) { return detail::facts_of(a->type).bits; };
  std::sort(order.begin(), order.end(), [&](const auto* a, const auto* b) {
    return width(a) != width(b) ? width(a) > width(b) : a->name < b->name;
  });
  return order;
}

DIMWISE_DETAIL_LIBRARY void detail::write_arrays(
    const std::filesystem::path& path, std::span<const stored_array> arrays,
    const std::map<std::string, std::string>& metadata,
    const std::function<std::span<const std::byte>(const stored_array&)>& elements_of) {
  const std::vector<const stored_array*> order = detail::in_file_order(arrays);
  // As text, and not as a tree of nlohmann's: the destructors of its lists and objects allocate, which terminates the
  // program if memory is exhausted.
  const auto quoted = [&](const std::string& said, const std::string& of) {
    try {
      return nlohmann::json(said).dump();
    } catch (const nlohmann::json::exception&) {
      throw file_error(path.string() + ": " + detail::printable(of) + " cannot be written: it is not UTF-8");
    }
  };
  std::string text = "{";
  const auto begin = [&](const std::string& key) {
    if (text.back() != '{') { text += ","; }
    text += quoted(key, key) + ":";
  };
  if (!metadata.empty()) {
    begin("__metadata__");
    text += "{";
    for (const auto& [key, value] : metadata) {
      begin(key);
      text += quoted(value, key);
    }
    text += "}";
  }
  std::set<std::string> names{"__metadata__"};
  std::size_t at = 0;
  for (const stored_array* a : order) {
    const auto refuse = [&](const std::string& what) {
      throw file_error(path.string() + ": " + detail::printable(a->name) + " cannot be written: " + what);
    };
    if (!element_type_named(name_of(a->type))) { refuse("safetensors has no " + std::string(name_of(a->type))); }
    const auto count = count_of(a->extents);
    const auto needed = count ? bytes_of(a->type, *count) : std::nullopt;
    if (!elements_of || !needed) { detail::check_bytes(path.string(), *a); }
    const std::size_t size = *needed;
    if (!names.insert(a->name).second) { refuse("the name is taken"); }
    begin(a->name);
    // In parts: g++ 12 warns at -O3 about overlapping copies in "text" + std::string().
    text.append(R"({"data_offsets":[)").append(std::to_string(at)).append(",");
    text.append(std::to_string(at + size)).append(R"(],"dtype":")").append(name_of(a->type));
    text.append(R"(","shape":[)");
    for (std::size_t i = 0; i < a->extents.size(); ++i) {
      text.append(i > 0 ? "," : "").append(std::to_string(a->extents[i]));
    }
    text += "]}";
    at += size;
  }
  text += "}";
  text.append((8 - text.size() % 8) % 8, ' ');
  const auto length = static_cast<std::uint64_t>(text.size());
  new_file file(path);
  file.write(std::as_bytes(std::span(&length, 1)));
  file.write(std::as_bytes(std::span(text)));
  for (const stored_array* a : order) {
    stored_array written = *a;
    if (elements_of) {
      written.bytes = elements_of(*a);
      detail::check_bytes(path.string(), written);
    }
    file.write(written.bytes);
  }
  file.finish();
}

}  // namespace dimwise::io

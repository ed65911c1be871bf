// tests/conformance/gguf.cpp -- GGUF files: values of every block format that is read, settings, and malformed files.
//
// Cases with "unread" have a tensor of that type, which is rejected by name.
// SPDX-License-Identifier: BSL-1.0
#include "suite.hpp"
#include <dimwise/io/arrays/tensors.hpp>
#include <dimwise/io/gguf.hpp>
#include <dimwise/io/safetensors.hpp>

#include <cstring>
#include <type_traits>

namespace conformance {

namespace {

namespace io = dimwise::io;

struct element : dimwise::feature_dim<> {};

std::span<const std::byte> bytes_of(const array& file) { return {file.bytes.get(), file.size()}; }

// The elements of an array of any rank.
template <class T>
dimwise::tensor<T, element> elements_of(io::stored_array from, io::rounding how) {
  from.extents = {*io::count_of(from.extents)};
  return io::read_tensor<dimwise::tensor<T, element>>(from, how);
}
// Products of scales and integers are exact in float: a float is the expected number rounded once.
template <class T>
bool same_elements(const io::stored_array& found, const io::stored_array& expected) {
  const auto x = elements_of<T>(found, io::rounding::refused);
  const auto y = elements_of<T>(expected, io::rounding::allowed);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const bool equal = std::memcmp(x.data() + i, y.data() + i, sizeof(T)) == 0;
    if (!equal && !(x.data()[i] != x.data()[i] && y.data()[i] != y.data()[i])) { return false; }
  }
  return x.size() == y.size();
}
bool same_array(const io::stored_array& found, const io::stored_array& expected) {
  if (found.extents != expected.extents) { return false; }
  if (expected.type == io::element_type::f64 && found.type != io::element_type::f64) {
    return same_elements<float>(found, expected);
  }
  if (expected.type == io::element_type::f64) { return same_elements<double>(found, expected); }
  return found.type == expected.type &&
         std::equal(found.bytes.begin(), found.bytes.end(), expected.bytes.begin(), expected.bytes.end());
}

void compare_arrays(run& r, const io::archive& read, const array& file) {
  const io::archive expected = io::parse_safetensors(bytes_of(file), r.name());
  if (read.arrays().size() != expected.arrays().size()) { r.differs("has another number of tensors"); }
  for (const io::stored_array& one : expected.arrays()) {
    const io::stored_array* const found = read.find(one.name);
    if (found == nullptr || !same_array(*found, one)) { r.differs(one.name + " has other extents or elements"); }
  }
}

// A setting as the reader shows it; lists by their lengths, which the suite gives if they are long.
bool same_setting(const nlohmann::json& expected, const std::string& found) {
  const nlohmann::json& value = expected.at("value");
  const std::string type = expected.at("type");
  if (type == "array") {
    const std::size_t count = value.is_array() ? value.size() : value.at("length").get<std::size_t>();
    return found == "list of " + std::to_string(count);
  }
  if (type == "f32") { return std::stof(found) == value.get<float>(); }
  if (type == "f64") { return std::stod(found) == value.get<double>(); }
  return found == (value.is_string() ? value.get<std::string>() : value.dump());
}

void read_file(run& r) {
  const nlohmann::json& entry = r.entry();
  const array file = r.file(entry.at("file"));
  const bool good = entry.at("verdict") == "accept" && !entry.contains("unread");
  try {
    const io::archive read = io::parse_gguf(bytes_of(file), r.name());
    if (!good) { return r.differs("is accepted"); }
    if (entry.contains("expected")) { compare_arrays(r, read, r.file(entry.at("expected").at("file"))); }
    if (!entry.contains("metadata")) { return; }
    const array text = r.file(entry.at("metadata").at("file"));
    const auto facts = nlohmann::json::parse(std::string(reinterpret_cast<const char*>(text.bytes.get()), text.size()));
    for (const auto& [key, value] : facts.at("metadata").items()) {
      const auto found = read.metadata().find(key);
      if (found == read.metadata().end() || !same_setting(value, found->second)) { r.differs(key + " differs"); }
    }
  } catch (const io::file_error& problem) {
    if (good) { return r.differs(std::string("is rejected: ") + problem.what()); }
    const std::string type = entry.value("unread", "");
    if (std::string(problem.what()).find(type.empty() ? "not a GGUF file" : " has the type " + type + ", ") ==
        std::string::npos) {
      r.differs(std::string("is rejected for another reason: ") + problem.what());
    }
  }
}

const family block_cases{"blocks", read_file};
const family container_cases{"container", read_file};
const family malformed_cases{"malformed", read_file};

}  // namespace
}  // namespace conformance

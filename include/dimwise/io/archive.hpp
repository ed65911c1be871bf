// SPDX-License-Identifier: BSL-1.0
// dimwise/io/archive.hpp -- named arrays of one or several files: what all formats are read into.
//
// Layer: io. An array in a file has no dimensions: extents in an order that only its writer knows, and bytes.
// Tests: tests/io/safetensors.test.cpp
#pragma once

#include <dimwise/io/element_type.hpp>
#include <dimwise/io/file_bytes.hpp>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace dimwise::io {

/// An array as a file holds it, in C order. `bytes` need not be aligned; they are in the memory of the archive, of a
/// tensor that is written, or in `own`.
struct stored_array {
  std::string name{};
  element_type type = element_type::f32;
  std::vector<std::size_t> extents{};  ///< the slowest first; GGUF's reversed order is turned when it is read
  std::span<const std::byte> bytes{};
  std::shared_ptr<const std::vector<std::byte>> own{};        ///< elements that were brought into C order
  std::vector<std::shared_ptr<const void>> kept_memory = {};  ///< of the temporary archive that the array is from
};

namespace detail {

// An array that is written has the bytes of its elements.
inline void check_bytes(const std::string& file, const stored_array& a) {
  const auto count = count_of(a.extents);
  if (!count || bytes_of(a.type, *count) != a.bytes.size()) {
    throw file_error(file + ": " + printable(a.name) + " cannot be written: " + std::to_string(a.bytes.size()) +
                     " bytes are not " + std::string(name_of(a.type)) + " " + listed(a.extents));
  }
}

}  // namespace detail

/// The arrays of a checkpoint, by name, and the memory that they are in. Copies share it.
class archive {
 public:
  archive() = default;
  /// Without arrays; the title is what messages call it, the path of a file.
  explicit archive(std::string title) : title_(std::move(title)) {}

  /// The file or folder, as messages call it.
  [[nodiscard]] const std::string& title() const& { return title_; }
  [[nodiscard]] std::string title() const&& { return title_; }
  /// In the order of the file.
  [[nodiscard]] const std::vector<stored_array>& arrays() const& { return arrays_; }
  const std::vector<stored_array>& arrays() const&& = delete;  // a loop over them would outlive the archive
  /// Null where there is none of that name.
  [[nodiscard]] const stored_array* find(std::string_view name) const& {
    const auto found = places_.find(name);
    return found == places_.end() ? nullptr : &arrays_[found->second];
  }
  const stored_array* find(std::string_view name) const&& = delete;
  /// Throws `file_error` where there is none of that name.
  [[nodiscard]] const stored_array& at(std::string_view name) const& {
    const stored_array* const found = find(name);
    if (found == nullptr) { throw file_error(title_ + ": there is no array " + detail::printable(name)); }
    return *found;
  }
  /// Of a temporary archive, whose memory the array keeps alive.
  [[nodiscard]] stored_array at(std::string_view name) const&& {
    stored_array found = std::as_const(*this).at(name);
    found.kept_memory = memory_;
    return found;
  }
  /// Texts that are stored beside the arrays.
  [[nodiscard]] const std::map<std::string, std::string>& metadata() const& { return metadata_; }
  [[nodiscard]] std::map<std::string, std::string> metadata() const&& { return metadata_; }

  /// False where the name is taken.
  bool add(stored_array array) {
    if (!places_.emplace(array.name, arrays_.size()).second) { return false; }
    arrays_.push_back(std::move(array));
    return true;
  }
  /// A text beside the arrays; it replaces one of that key.
  void add_text(const std::string& key, std::string text) { metadata_.insert_or_assign(key, std::move(text)); }
  /// The memory that the arrays borrow lives as long as the archive.
  void keep(std::shared_ptr<const void> memory) { memory_.push_back(std::move(memory)); }
  [[nodiscard]] const std::vector<std::shared_ptr<const void>>& memory() const { return memory_; }

 private:
  std::string title_;
  std::vector<stored_array> arrays_{};
  std::map<std::string, std::size_t, std::less<>> places_{};  // no hashes: names are chosen by whoever wrote the file
  std::map<std::string, std::string> metadata_{};
  std::vector<std::shared_ptr<const void>> memory_{};
};

}  // namespace dimwise::io

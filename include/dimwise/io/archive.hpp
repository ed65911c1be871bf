// SPDX-License-Identifier: BSL-1.0
// dimwise/io/archive.hpp -- the named arrays of one or several files, the common result of all readers.
//
// Layer: io. An array in a file has extents and bytes but no dimensions; only the writer knows their order.
// Tests: tests/io/safetensors.test.cpp
#pragma once

#include <dimwise/io/arrays/element_type.hpp>
#include <dimwise/io/files/bytes.hpp>
#include <dimwise/support/library.hpp>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace dimwise::io {

/// An array of a file in C order. `bytes` may be unaligned; they belong to the archive, to a tensor that is written, or
/// to `own`.
struct stored_array {
  std::string name{};
  element_type type = element_type::f32;
  std::vector<std::size_t> extents{};  ///< the slowest first; the GGUF reader reverses GGUF's order
  std::span<const std::byte> bytes{};
  std::shared_ptr<const std::vector<std::byte>> own{};        ///< elements that were reordered into C order
  std::vector<std::shared_ptr<const void>> kept_memory = {};  ///< the memory of a temporary archive
  std::span<const std::byte> scales = {};     ///< of MXFP4: a power of two for each 32 elements; of F8_E4M3: floats
  std::vector<std::size_t> scale_block = {};  ///< of F8_E4M3 with scales: the rows and columns that share one
};

namespace detail {

// Checks that an array to be written has as many bytes as its elements need.
DIMWISE_DETAIL_LIBRARY void check_bytes(const std::string& file, const stored_array& a);

}  // namespace detail

/// The arrays of a checkpoint by name, with their memory. Copies share it.
class archive {
 public:
  archive() = default;
  /// An archive without arrays; messages name it by the title, usually the path of a file.
  explicit archive(std::string title) : title_(std::move(title)) {}

  /// The file or folder in messages.
  [[nodiscard]] const std::string& title() const& { return title_; }
  [[nodiscard]] std::string title() const&& { return title_; }
  /// The arrays in file order.
  [[nodiscard]] const std::vector<stored_array>& arrays() const& { return arrays_; }
  const std::vector<stored_array>& arrays() const&& = delete;  // would dangle: a loop over them outlives the archive
  /// The array of this name, or null.
  [[nodiscard]] const stored_array* find(std::string_view name) const&;
  const stored_array* find(std::string_view name) const&& = delete;
  /// The array of this name; throws `file_error` if it is missing.
  [[nodiscard]] const stored_array& at(std::string_view name) const&;
  /// The array of this name in a temporary archive; the array keeps the memory alive.
  [[nodiscard]] stored_array at(std::string_view name) const&&;
  /// The metadata of the file, as text.
  [[nodiscard]] const std::map<std::string, std::string>& metadata() const& { return metadata_; }
  [[nodiscard]] std::map<std::string, std::string> metadata() const&& { return metadata_; }

  /// Adds an array; returns false if the name exists.
  bool add(stored_array array);
  /// Sets an entry of the metadata.
  void add_text(const std::string& key, std::string text) { metadata_.insert_or_assign(key, std::move(text)); }
  /// Keeps memory alive that arrays borrow, as long as the archive.
  void keep(std::shared_ptr<const void> memory) { memory_.push_back(std::move(memory)); }
  [[nodiscard]] const std::vector<std::shared_ptr<const void>>& memory() const { return memory_; }
  /// The title, the metadata and the memory of this archive, for other arrays that borrow the memory.
  [[nodiscard]] archive without_arrays() const {
    archive made(title_);
    made.metadata_ = metadata_;
    made.memory_ = memory_;
    return made;
  }

 private:
  std::string title_;
  std::vector<stored_array> arrays_{};
  std::map<std::string, std::size_t, std::less<>> places_{};  // not hashed: files may have hostile names
  std::map<std::string, std::string> metadata_{};
  std::vector<std::shared_ptr<const void>> memory_{};
};

}  // namespace dimwise::io

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/io/archive_definitions.hpp>
#endif

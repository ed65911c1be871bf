// tests/io/support.hpp -- files that tests of the layer io make.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/dim/error.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <span>
#include <string>
#include <system_error>

namespace dimwise_test {

[[nodiscard]] inline std::span<const std::byte> bytes_of_text(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

/// What f throws, as text; empty where it throws nothing.
template <class F>
[[nodiscard]] std::string message(F f) {
  try {
    f();
  } catch (const dimwise::error& thrown) { return thrown.what(); }
  return {};
}

/// A safetensors file with this header and so many bytes of data.
[[nodiscard]] inline std::string safetensors_bytes(const std::string& header, std::size_t data = 0) {
  const auto length = static_cast<std::uint64_t>(header.size());
  std::string file(8, '\0');
  std::memcpy(file.data(), &length, 8);
  return file + header + std::string(data, '\0');
}

/// An empty folder, gone at the end.
class temporary_folder {
 public:
  temporary_folder()
      : path_(std::filesystem::temp_directory_path() / ("dimwise_test_" + std::to_string(std::random_device{}()))) {
    std::filesystem::create_directories(path_);
  }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;
  ~temporary_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
  }

 private:
  std::filesystem::path path_;
};

[[nodiscard]] inline std::size_t files_in(const std::filesystem::path& folder) {
  std::size_t n = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) { n += entry.is_regular_file() ? 1 : 0; }
  return n;
}

}  // namespace dimwise_test

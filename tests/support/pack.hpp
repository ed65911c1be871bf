// tests/support/pack.hpp -- reads the packed conformance data of tests/data (written by tests/data/pack_data.py).
//
// For tests and examples only; the library does not know it.
// Tests: tests/support/pack.test.cpp
//
//   dimwise_test::const pack data{dimwise_test::data_file("seed_notebook.dwpack")};
//   std::span<const float> weight = data.at("single_head/weight.W_query").as<float>();   // C order, 64-byte aligned
//   std::vector<double> same = data.at("single_head/weight.W_query").converted<double>(); // from any element type
//   for (const auto& entry : data.cases()) entry.at("name");                              // nlohmann::json
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace dimwise_test {

static_assert(std::endian::native == std::endian::little, "the packed files are read as they lie on disk");

/// The name that the packed files use for the element type `T`; empty if there is none.
template <class T>
inline constexpr std::string_view dtype_name = [] {
  if constexpr (std::same_as<T, double>) return "float64";
  else if constexpr (std::same_as<T, float>) return "float32";
  else if constexpr (std::same_as<T, std::int64_t>) return "int64";
  else if constexpr (std::same_as<T, std::int32_t>) return "int32";
  else if constexpr (std::same_as<T, std::int16_t>) return "int16";
  else if constexpr (std::same_as<T, std::int8_t>) return "int8";
  else if constexpr (std::same_as<T, std::uint64_t>) return "uint64";
  else if constexpr (std::same_as<T, std::uint32_t>) return "uint32";
  else if constexpr (std::same_as<T, std::uint16_t>) return "uint16";
  else if constexpr (std::same_as<T, std::uint8_t>) return "uint8";
  else if constexpr (std::same_as<T, bool>) return "bool";
  else return "";
}();

/// The value of an IEEE half-precision number given by its bits.
[[nodiscard]] inline double half_to_double(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 0x1f;
  const int fraction = bits & 0x3ff;
  double value = 0;
  if (exponent == 0x1f) value = fraction == 0 ? INFINITY : NAN;
  else if (exponent == 0) value = std::ldexp(fraction, -24);
  else value = std::ldexp(fraction + 1024, exponent - 25);
  return (bits & 0x8000) != 0 ? -value : value;
}

/// One array of a packed file: element type, extents, raw elements in C order. Borrows from its `pack`.
struct packed_array {
  std::string name;
  std::string dtype;
  std::vector<std::size_t> shape;
  std::span<const std::byte> bytes;

  /// The number of elements.
  [[nodiscard]] std::size_t count() const {
    std::size_t product = 1;
    for (const std::size_t extent : shape) product *= extent;
    return product;
  }

  /// The elements in place; `T` must be the stored type.
  template <class T>
  [[nodiscard]] std::span<const T> as() const {
    static_assert(!dtype_name<T>.empty(), "the packed files have no such element type");
    if (dtype != dtype_name<T>) {
      throw std::runtime_error(name + ": holds " + dtype + ", expected " + std::string(dtype_name<T>));
    }
    return {reinterpret_cast<const T*>(bytes.data()), count()};
  }

  /// A copy of the elements as `T`, from any stored type.
  template <class T>
  [[nodiscard]] std::vector<T> converted() const {
    static_assert(!std::same_as<T, bool>, "std::vector<bool> is not an array of bool: convert to unsigned char");
    std::vector<T> result(count());
    const auto copy_from = [&]<class Stored>(std::type_identity<Stored>) {
      if (dtype != dtype_name<Stored>) return false;
      const std::span<const Stored> stored = as<Stored>();
      for (std::size_t i = 0; i < stored.size(); ++i) result[i] = static_cast<T>(stored[i]);
      return true;
    };
    if (dtype == "float16") {
      for (std::size_t i = 0; i < result.size(); ++i) {
        std::uint16_t bits = 0;
        std::memcpy(&bits, bytes.data() + 2 * i, 2);
        result[i] = static_cast<T>(half_to_double(bits));
      }
      return result;
    }
    const bool known = copy_from(std::type_identity<double>{}) || copy_from(std::type_identity<float>{}) ||
                       copy_from(std::type_identity<std::int64_t>{}) || copy_from(std::type_identity<std::int32_t>{}) ||
                       copy_from(std::type_identity<std::int16_t>{}) || copy_from(std::type_identity<std::int8_t>{}) ||
                       copy_from(std::type_identity<std::uint64_t>{}) ||
                       copy_from(std::type_identity<std::uint32_t>{}) ||
                       copy_from(std::type_identity<std::uint16_t>{}) ||
                       copy_from(std::type_identity<std::uint8_t>{}) || copy_from(std::type_identity<bool>{});
    if (!known) throw std::runtime_error(name + ": unknown element type " + dtype);
    return result;
  }
};

/// A packed file in memory. Throws `std::runtime_error` that names the file and what was expected.
class pack {
 public:
  explicit pack(std::string file) : file_{std::move(file)} {
    read_file();
    read_header();
  }
  /// A file whose bytes are in memory; they are copied.
  pack(std::string name, std::span<const std::byte> bytes) : file_{std::move(name)} {
    std::copy(bytes.begin(), bytes.end(), room_for(bytes.size()));
    read_header();
  }

  /// The array of that name, for example "single_head/weight.W_query".
  [[nodiscard]] const packed_array& at(const std::string& name) const {
    const auto found = arrays_.find(name);
    if (found == arrays_.end()) refuse("expected an array named " + name);
    return found->second;
  }

  [[nodiscard]] bool contains(const std::string& name) const { return arrays_.contains(name); }

  /// The whole manifest of the suite; tensors in it point to arrays through their member "array".
  [[nodiscard]] const nlohmann::json& manifest() const { return manifest_; }

  [[nodiscard]] const nlohmann::json& cases() const { return manifest_.at("cases"); }

  [[nodiscard]] const std::map<std::string, packed_array>& arrays() const { return arrays_; }

 private:
  static constexpr std::align_val_t alignment{64};
  struct aligned_delete {
    void operator()(std::byte* memory) const { ::operator delete[](memory, alignment); }
  };

  [[noreturn]] void refuse(const std::string& expected) const { throw std::runtime_error(file_ + ": " + expected); }

  void read_header() {
    if (length_ < 16 || std::memcmp(data_.get(), "DWPACK1\n", 8) != 0) {
      refuse("expected a packed data file, which starts with DWPACK1");
    }
    std::uint64_t header_length = 0;
    std::memcpy(&header_length, data_.get() + 8, 8);
    if (header_length > length_ - 16) {
      refuse("expected a header of " + std::to_string(header_length) + " bytes, the file has " +
             std::to_string(length_ - 16) + " behind its first 16");
    }
    const char* const text = reinterpret_cast<const char*>(data_.get()) + 16;
    try {
      nlohmann::json header = nlohmann::json::parse(text, text + header_length);
      for (const auto& [name, entry] : header.at("arrays").items()) add_array(name, entry);
      manifest_ = std::move(header.at("manifest"));
    } catch (const nlohmann::json::exception& problem) {
      refuse(std::string{"expected a JSON header with \"manifest\" and \"arrays\": "} + problem.what());
    }
  }

  std::byte* room_for(std::size_t length) {
    length_ = length;
    data_.reset(static_cast<std::byte*>(::operator new[](length_ + 1, alignment)));
    return data_.get();
  }
  void read_file() {
    std::ifstream stream(file_, std::ios::binary | std::ios::ate);
    if (!stream) refuse("expected a readable file");
    std::byte* const to = room_for(static_cast<std::size_t>(stream.tellg()));
    stream.seekg(0);
    if (!stream.read(reinterpret_cast<char*>(to), static_cast<std::streamsize>(length_))) {
      refuse("expected " + std::to_string(length_) + " readable bytes");
    }
  }

  void add_array(const std::string& name, const nlohmann::json& entry) {
    packed_array array{file_ + ": " + name, entry.at("dtype"), entry.at("shape"), {}};
    const std::size_t offset = entry.at("offset");
    const std::size_t bytes = entry.at("bytes");
    if (offset > length_ || bytes > length_ - offset) {
      refuse("expected " + std::to_string(bytes) + " bytes of " + name + " at " + std::to_string(offset) +
             ", the file has " + std::to_string(length_));
    }
    // By division, so that no product of extents can overflow unnoticed.
    std::size_t elements_left = bytes / width_of(array.dtype, name);
    bool fits = bytes % width_of(array.dtype, name) == 0;
    bool empty = false;
    for (const std::size_t extent : array.shape) {
      empty = empty || extent == 0;
      if (extent != 0 && !empty) {
        fits = fits && elements_left % extent == 0;
        elements_left /= extent;
      }
    }
    if (!fits || (empty ? bytes != 0 : elements_left != 1) || offset % 64 != 0) {
      refuse("expected the shape of " + name + ", " + entry.at("shape").dump() + " of " + array.dtype +
             ", to fill its " + std::to_string(bytes) + " bytes, aligned to 64");
    }
    array.bytes = {data_.get() + offset, bytes};
    arrays_.emplace(name, std::move(array));
  }

  [[nodiscard]] std::size_t width_of(const std::string& dtype, const std::string& name) const {
    static const std::map<std::string, std::size_t, std::less<>> widths{
        {"float64", 8}, {"float32", 4}, {"float16", 2}, {"int64", 8},  {"int32", 4}, {"int16", 2},
        {"int8", 1},    {"uint64", 8},  {"uint32", 4},  {"uint16", 2}, {"uint8", 1}, {"bool", 1}};
    const auto found = widths.find(dtype);
    if (found == widths.end()) refuse("expected a known element type for " + name + ", not " + dtype);
    return found->second;
  }

  std::string file_;
  std::size_t length_ = 0;
  std::unique_ptr<std::byte[], aligned_delete> data_;
  nlohmann::json manifest_;
  std::map<std::string, packed_array> arrays_;
};

#ifdef DIMWISE_DATA_DIR
/// The path of a file in tests/data; CMake defines where that is.
[[nodiscard]] inline std::string data_file(const std::string& name) { return std::string{DIMWISE_DATA_DIR "/"} + name; }
#endif

}  // namespace dimwise_test

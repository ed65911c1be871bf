// SPDX-License-Identifier: BSL-1.0
// dimwise/io/safetensors.hpp -- a reader and writer of safetensors files, with every check of the reference parser.
//
// Layer: io. The format: eight bytes with the length of a JSON header, the header, and the elements without gaps.
// Tests: tests/io/safetensors.test.cpp, the conformance suite `safetensors`
//
//   const archive file = read_safetensors("model.safetensors");      file.at("wte.weight").extents
//   write_safetensors("copy.safetensors", file.arrays());
#pragma once

#include <dimwise/io/archive.hpp>
#include <dimwise/support/library.hpp>

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace dimwise::io {

/// The arrays of a safetensors file in memory; `title` is its name in messages. The arrays borrow `bytes`. Throws
/// `file_error` for files that the reference parser rejects, and for duplicate names.
[[nodiscard]] DIMWISE_DETAIL_LIBRARY archive parse_safetensors(std::span<const std::byte> bytes,
                                                               const std::string& title);

/// The arrays of a safetensors file. Throws `file_error`.
[[nodiscard]] DIMWISE_DETAIL_LIBRARY archive read_safetensors(const std::filesystem::path& path,
                                                              file_access how = file_access::mapped);

/// Writes arrays atomically as a safetensors file, with elements aligned to their size. Throws `file_error`.
DIMWISE_DETAIL_LIBRARY void write_safetensors(const std::filesystem::path& path, std::span<const stored_array> arrays,
                                              const std::map<std::string, std::string>& metadata = {});

namespace detail {

// The arrays in the order in which `write_safetensors` writes them.
DIMWISE_DETAIL_LIBRARY std::vector<const stored_array*> in_file_order(std::span<const stored_array> arrays);
// Writes arrays whose elements `elements_of` gives one after the other, in this order: one is in memory at a time.
// Without it the arrays have their bytes.
DIMWISE_DETAIL_LIBRARY void write_arrays(
    const std::filesystem::path& path, std::span<const stored_array> arrays,
    const std::map<std::string, std::string>& metadata,
    const std::function<std::span<const std::byte>(const stored_array&)>& elements_of);

}  // namespace detail
}  // namespace dimwise::io

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/io/safetensors_definitions.hpp>
#endif

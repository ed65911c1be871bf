// SPDX-License-Identifier: BSL-1.0
// dimwise/io/archive_definitions.hpp -- the named arrays of files (support/library.hpp).
//
// Layer: io.
#pragma once

#include <dimwise/io/archive.hpp>

#include <string>

namespace dimwise::io::detail {

DIMWISE_DETAIL_LIBRARY void check_bytes(const std::string& file, const stored_array& a) {
  const auto count = count_of(a.extents);
  if (!count || bytes_of(a.type, *count) != a.bytes.size()) {
    throw file_error(file + ": " + printable(a.name) + " cannot be written: " + std::to_string(a.bytes.size()) +
                     " bytes do not match " + std::string(name_of(a.type)) + " " + listed(a.extents));
  }
}

}  // namespace dimwise::io::detail

namespace dimwise::io {

DIMWISE_DETAIL_LIBRARY const stored_array* archive::find(std::string_view name) const& {
  const auto found = places_.find(name);
  return found == places_.end() ? nullptr : &arrays_[found->second];
}

DIMWISE_DETAIL_LIBRARY const stored_array& archive::at(std::string_view name) const& {
  const stored_array* const found = find(name);
  if (found == nullptr) { throw file_error(title_ + ": there is no array " + detail::printable(name)); }
  return *found;
}

DIMWISE_DETAIL_LIBRARY stored_array archive::at(std::string_view name) const&& {
  stored_array found = std::as_const(*this).at(name);
  found.kept_memory = memory_;
  return found;
}

DIMWISE_DETAIL_LIBRARY bool archive::add(stored_array array) {
  if (!places_.emplace(array.name, arrays_.size()).second) { return false; }
  arrays_.push_back(std::move(array));
  return true;
}

}  // namespace dimwise::io

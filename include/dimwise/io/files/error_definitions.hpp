// SPDX-License-Identifier: BSL-1.0
// dimwise/io/files/error_definitions.hpp -- messages about files (support/library.hpp).
//
// Layer: io.
#pragma once

#include <dimwise/io/files/error.hpp>

#include <memory>
#include <string>
#include <string_view>

namespace dimwise::io {

DIMWISE_DETAIL_LIBRARY file_error::file_error(const std::string& text)
    : text_(std::make_shared<const std::string>((text.starts_with(": ") ? "an empty file name" : "") + escaped(text))) {
}

DIMWISE_DETAIL_LIBRARY std::string file_error::escaped(const std::string& text) {
  std::string all;
  all.reserve(text.size());
  dimwise::detail::say_escaped(text.data(), text.size(), [&](char c) { all += c; });
  return all;
}

}  // namespace dimwise::io

namespace dimwise::io::detail {

DIMWISE_DETAIL_LIBRARY std::string printable(std::string_view name, std::size_t longest) {
  std::string shown = "\"";
  while (longest > 0 && longest < name.size() && (static_cast<unsigned char>(name[longest]) & 0xc0U) == 0x80) {
    --longest;  // keeps characters whole
  }
  for (const char c : name.substr(0, longest)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      shown += '\\';
      shown += c;
    } else if (c == '\n' || c == '\t' || c == '\r') {
      shown += c == '\n' ? "\\n" : c == '\t' ? "\\t" : "\\r";
    } else if (byte < 0x20 || byte == 0x7f) {
      constexpr char digits[] = "0123456789abcdef";
      shown += "\\x";
      shown += digits[byte >> 4];
      shown += digits[byte & 15];
    } else {
      shown += c;
    }
  }
  return shown + (name.size() > longest ? "…\"" : "\"");
}

}  // namespace dimwise::io::detail

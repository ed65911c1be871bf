// SPDX-License-Identifier: BSL-1.0
// dimwise/viz/text/words.hpp -- arbitrary bytes as printable text: for terminals, XML, JSON, DOT and Markdown.
//
// Layer: viz. A token may contain anything: line breaks, incomplete UTF-8, bidirectional controls. Every picture and
// page escapes external text with these functions.
// Tests: tests/viz/names.test.cpp
//
//   visible("a\nb\xff");   // a␊b�
//   in_xml("<pad>");       // &lt;pad&gt;
#pragma once

#include <dimwise/support/library.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace dimwise::detail {

// The code point at byte `i` and its length in bytes; length 0 for invalid UTF-8.
struct code_point {
  char32_t value;
  std::size_t bytes;
};
DIMWISE_DETAIL_LIBRARY code_point code_point_at(std::string_view s, std::size_t i);

// Where a test counts the code points that are read: the time for a label must be linear in its length.
inline std::size_t* code_points_read = nullptr;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

// Whether a code point is invisible, ends a line, changes the text direction, or is invalid in XML.
DIMWISE_DETAIL_LIBRARY bool is_unseen(char32_t c);

// Valid UTF-8 without control characters: these become their pictures (␊); invalid and invisible ones become �.
DIMWISE_DETAIL_LIBRARY std::string visible(std::string_view s);

// The number of terminal columns; East Asian wide characters and emoji take two.
DIMWISE_DETAIL_LIBRARY std::size_t columns_of(std::string_view s);

// At most `columns` columns, with … for omitted text.
DIMWISE_DETAIL_LIBRARY std::string shortened(const std::string& s, std::size_t columns);

DIMWISE_DETAIL_LIBRARY std::string replaced(std::string_view s, std::string_view from, const char* const* to);

// Escaped text for XML, SVG and HTML, attributes included; also for the quotes of Mermaid.
DIMWISE_DETAIL_LIBRARY std::string in_xml(std::string_view s);
// A JSON string, safe inside a page: it contains neither < nor & .
DIMWISE_DETAIL_LIBRARY std::string in_json(std::string_view s);
// A DOT string.
DIMWISE_DETAIL_LIBRARY std::string in_dot(std::string_view s);
// A cell of a Markdown table.
DIMWISE_DETAIL_LIBRARY std::string in_markdown(std::string_view s);

}  // namespace dimwise::detail

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/viz/text/words_definitions.hpp>
#endif

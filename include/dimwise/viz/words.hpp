// SPDX-License-Identifier: BSL-1.0
// dimwise/viz/words.hpp -- any bytes as words that can be seen: in columns, in XML, in JSON, in graph languages.
//
// Layer: viz. A token may hold anything: line breaks, half a letter of UTF-8, marks that turn the text around. Every
// picture and page takes foreign words through this header alone.
// Tests: tests/viz/words.test.cpp
//
//   visible("a\nb\xff");   // a␊b�
//   in_xml("<pad>");       // &lt;pad&gt;
#pragma once

#include <dimwise/support/library.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace dimwise::detail {

// The code point that begins at `i`, and how many bytes it has; 0 bytes where these are no UTF-8.
struct code_point {
  char32_t value;
  std::size_t bytes;
};
DIMWISE_DETAIL_LIBRARY code_point code_point_at(std::string_view s, std::size_t i);

// No letter of its own: it is not shown, ends a line, changes how its neighbours are read, or is none for XML.
DIMWISE_DETAIL_LIBRARY bool is_unseen(char32_t c);

// Valid UTF-8 without control characters: these become their pictures (␊), and what is broken or unseen becomes �.
DIMWISE_DETAIL_LIBRARY std::string visible(std::string_view s);

// The columns that words take on a terminal; letters of East Asia and emoji take two.
DIMWISE_DETAIL_LIBRARY std::size_t columns_of(std::string_view s);

// At most so many columns, with … for what is left out.
DIMWISE_DETAIL_LIBRARY std::string shortened(const std::string& s, std::size_t columns);

DIMWISE_DETAIL_LIBRARY std::string replaced(std::string_view s, std::string_view from, const char* const* to);

// For the text and the attributes of XML, SVG and HTML; also within the quotes of Mermaid, which knows these names.
DIMWISE_DETAIL_LIBRARY std::string in_xml(std::string_view s);
// A string of JSON, also of JSON within a page: it holds neither < nor & .
DIMWISE_DETAIL_LIBRARY std::string in_json(std::string_view s);
// A string of DOT.
DIMWISE_DETAIL_LIBRARY std::string in_dot(std::string_view s);
// A cell of a table in Markdown.
DIMWISE_DETAIL_LIBRARY std::string in_markdown(std::string_view s);

}  // namespace dimwise::detail

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/viz/words_definitions.hpp>
#endif

// tests/io/file_error.test.cpp -- how names and patterns of files are shown in messages.
// SPDX-License-Identifier: BSL-1.0
#include <dimwise/io/files/error.hpp>

#include <doctest/doctest.h>

using dimwise::io::detail::printable;

TEST_CASE("a name is shown with the escapes of JSON") {
  CHECK(printable("wte.weight") == "\"wte.weight\"");
  CHECK(printable("\\p{L}+\n\t\r\x01\x7f\"") == R"("\\p{L}+\n\t\r\x01\x7f\"")");
  CHECK(printable("Ġé") == "\"Ġé\"");
}

TEST_CASE("a long name is cut behind a whole character") {
  CHECK(printable("abcdef", 6) == "\"abcdef\"");
  CHECK(printable("abcdefg", 6) == "\"abcdef…\"");
  CHECK(printable("abcdeéf", 6) == "\"abcde…\"");
  CHECK(printable("abcd漢f", 6) == "\"abcd…\"");
  CHECK(printable(std::string(1000, 'x')).size() == 125);
}

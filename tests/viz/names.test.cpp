// tests/viz/names.test.cpp -- any bytes as words that can be seen.
//
// SPDX-License-Identifier: BSL-1.0
#include <dimwise/viz/text/words.hpp>

#include <doctest/doctest.h>

#include <string>

namespace {

using namespace dimwise::detail;

TEST_CASE("words: control characters have pictures, what is broken is marked") {
  CHECK(visible("a b") == "a b");
  CHECK(visible("\n\t\x7f") == "␊␉␡");
  CHECK(visible(std::string(1, '\0')) == "␀");
  CHECK(visible("é猫🙂") == "é猫🙂");
  CHECK(visible("\xff") == "�");
  CHECK(visible("\xe7\x8c") == "��");                        // cut in the middle
  CHECK(visible("\xc0\xaf") == "��");                        // too long a form
  CHECK(visible("\xed\xa0\x80") == "���");                   // a surrogate
  CHECK(visible("\xf5\x80\x80\x80") == "����");              // beyond Unicode
  CHECK(visible("a\u202eb\u200b\ufeff\u0085") == "a�b���");  // turns the text around; takes no room
}

TEST_CASE("words: columns, and what does not fit") {
  CHECK(columns_of("abc") == 3);
  CHECK(columns_of("é猫🙂") == 5);
  CHECK(columns_of("e\u0301") == 1);
  CHECK(shortened("abcdef", 6) == "abcdef");
  CHECK(shortened("abcdef", 4) == "abc…");
  CHECK(shortened("猫猫猫", 4) == "猫…");
  // In time that grows with the length: a square of it would take hours.
  std::string accents;
  for (int i = 0; i < 1'000'000; ++i) { accents += "\u0300"; }
  CHECK(shortened("a" + accents + "bcdef", 4) == "a" + accents + "bc…");
}

TEST_CASE("words: XML, JSON, DOT, Markdown") {
  const std::string odd = "<a b='c' d=\"e\">&\\\n";
  CHECK(in_xml(odd) == "&lt;a b=&#39;c&#39; d=&quot;e&quot;&gt;&amp;\\␊");
  CHECK(in_json(odd) == "\"\\u003ca b='c' d=\\\"e\\\"\\u003e\\u0026\\\\␊\"");
  CHECK(in_json("</script>").find('<') == std::string::npos);
  CHECK(in_dot(odd) == "\"<a b='c' d=\\\"e\\\">&\\\\␊\"");
  CHECK(in_markdown("a|b_c") == "a\\|b\\_c");
}

}  // namespace

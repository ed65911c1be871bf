// tests/io/file_bytes.test.cpp -- the bytes of a file, mapped or read.
// SPDX-License-Identifier: BSL-1.0
#include "support.hpp"
#include <dimwise/io/files/bytes.hpp>

#include <doctest/doctest.h>

using namespace dimwise::io;

namespace {

std::string text_of(const file_bytes& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

}  // namespace

TEST_CASE("mapped and read bytes are those of the file") {
  const dimwise_test::temporary_folder folder;
  const std::string text = "abc" + std::string(100000, 'x');
  folder.write("a", text);
  folder.write("empty", "");
  for (const auto how : {file_access::mapped, file_access::read}) {
    CHECK(text_of(file_bytes(folder / "a", how)) == text);
    const file_bytes empty(folder / "empty", how);
    CHECK(empty.bytes().empty());
  }
  CHECK(file_bytes(folder / "a").path() == folder / "a");
}

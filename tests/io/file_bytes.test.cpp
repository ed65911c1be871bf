// tests/io/file_bytes.test.cpp -- the bytes of a file, mapped or read; a new file appears whole or not at all.
// SPDX-License-Identifier: BSL-1.0
#include "io/support.hpp"
#include <dimwise/io/file_bytes.hpp>

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
    CHECK(file_bytes(folder / "empty", how).bytes().empty());
  }
  CHECK(file_bytes(folder / "a").path() == folder / "a");
}

TEST_CASE("a new file takes its place when it is finished, and leaves nothing where it is not") {
  const dimwise_test::temporary_folder folder;
  folder.write("a", "old");
  { new_file(folder / "a").write(dimwise_test::bytes_of_text("new")); }
  CHECK(text_of(file_bytes(folder / "a")) == "old");
  CHECK(dimwise_test::files_in(folder.path()) == 1);
  new_file file(folder / "a");
  file.write(dimwise_test::bytes_of_text("ne"));
  file.write(dimwise_test::bytes_of_text("w"));
  file.finish();
  CHECK(text_of(file_bytes(folder / "a")) == "new");
  CHECK(dimwise_test::files_in(folder.path()) == 1);
}

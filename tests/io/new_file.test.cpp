// tests/io/new_file.test.cpp -- a new file appears whole or not at all, and replaces nothing else.
// SPDX-License-Identifier: BSL-1.0
#include "support.hpp"
#include <dimwise/io/files/bytes.hpp>
#include <dimwise/io/files/new_file.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <vector>

using namespace dimwise::io;

namespace {

std::string text_of(const file_bytes& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}
void write(const std::filesystem::path& path, const std::string& text) {
  new_file file(path);
  file.write(dimwise_test::bytes_of_text(text));
  file.finish();
}

}  // namespace

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

TEST_CASE("writers of one file have drafts of their own, and spare files that look like drafts") {
  const dimwise_test::temporary_folder folder;
  folder.write("a.partial", "mine");
  new_file first(folder / "a");
  new_file second(folder / "a");
  first.write(dimwise_test::bytes_of_text("first"));
  second.write(dimwise_test::bytes_of_text("2"));
  first.finish();
  CHECK(text_of(file_bytes(folder / "a")) == "first");
  second.finish();
  CHECK(text_of(file_bytes(folder / "a")) == "2");
  CHECK(text_of(file_bytes(folder / "a.partial")) == "mine");
  CHECK(dimwise_test::files_in(folder.path()) == 2);
}

TEST_CASE("drafts that a killed writer left are removed, and those that are written are not") {
  using std::filesystem::file_time_type;
  const dimwise_test::temporary_folder folder;
  const auto leave = [&](const std::string& name, std::chrono::minutes age) {
    folder.write(name, "half");
    std::filesystem::last_write_time(folder / name, file_time_type::clock::now() - age);
  };
  const auto long_ago = std::chrono::minutes(10);
  leave("a.12345-0.partial", long_ago);
  leave("a.12345-1.partial.a1B2c3", long_ago);  // libzip's, whose draft is gone
  const std::vector<std::string> spared{"a.12345-2.partial.bak", "a.12345.partial",    "a.partial",
                                        "a.x-1.partial",         "aa.12345-0.partial", "a.12345-3.other"};
  for (const std::string& name : spared) { leave(name, long_ago); }
  leave("a.12345-4.partial", std::chrono::minutes(0));
  new_file slow(folder / "a");
  std::string draft;
  for (const auto& file : std::filesystem::directory_iterator(folder.path())) {
    if (std::filesystem::file_size(file) == 0) { draft = file.path().filename().string(); }
  }
  std::filesystem::last_write_time(folder / draft, file_time_type::clock::now() - long_ago);
  write(folder / "a", "quick");
  CHECK_FALSE(std::filesystem::exists(folder / "a.12345-0.partial"));
  CHECK_FALSE(std::filesystem::exists(folder / "a.12345-1.partial.a1B2c3"));
  for (const std::string& name : spared) { CHECK_MESSAGE(std::filesystem::exists(folder / name), name); }
  CHECK(std::filesystem::exists(folder / "a.12345-4.partial"));
  slow.write(dimwise_test::bytes_of_text("slow"));
  slow.finish();
  CHECK(text_of(file_bytes(folder / "a")) == "slow");
}

TEST_CASE("names of files may have 255 bytes") {
  const dimwise_test::temporary_folder folder;
  std::string umlauts = "x";
  while (umlauts.size() < 255) { umlauts += "ä"; }
  for (const std::string& name : {std::string(250, 'n'), std::string(255, 'n'), umlauts}) {
    write(folder / name, "short");
    write(folder / name, "again");
    CHECK(text_of(file_bytes(folder / name)) == "again");
  }
  CHECK(dimwise_test::files_in(folder.path()) == 3);
}

TEST_CASE("links are followed, and permissions stay") {
  const dimwise_test::temporary_folder folder;
  folder.write("a", "old");
  const auto own = std::filesystem::perms::owner_read | std::filesystem::perms::owner_write;
  std::filesystem::permissions(folder / "a", own);
  std::filesystem::create_symlink("a", folder / "link");
  write(folder / "link", "new");
  CHECK(std::filesystem::is_symlink(folder / "link"));
  CHECK(text_of(file_bytes(folder / "a")) == "new");
  CHECK(std::filesystem::status(folder / "a").permissions() == own);
  std::filesystem::create_symlink("later", folder / "to_nothing");
  write(folder / "to_nothing", "there");
  CHECK(text_of(file_bytes(folder / "later")) == "there");
  std::filesystem::create_symlink("round", folder / "round");
  CHECK(dimwise_test::message([&] { write(folder / "round", "x"); }).find("cannot be written") != std::string::npos);
  write(folder / "fresh", "x");
  folder.write("beside", "x");
  CHECK(std::filesystem::status(folder / "fresh").permissions() ==
        std::filesystem::status(folder / "beside").permissions());
}

TEST_CASE("what is no regular file is refused") {
  const dimwise_test::temporary_folder folder;
  CHECK(dimwise_test::message([&] { write("/dev/null", "x"); }) == "/dev/null: a regular file was expected");
  CHECK(dimwise_test::message([&] { write(folder.path(), "x"); }) ==
        folder.path().string() + ": a regular file was expected");
  CHECK(dimwise_test::files_in(folder.path()) == 0);
}

// tests/viz/saving.test.cpp -- reports and pictures are files that appear whole or not at all.
// SPDX-License-Identifier: BSL-1.0
#include "io/support.hpp"
#include "support/failing_allocations.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/viz.hpp>

#include <doctest/doctest.h>

#include <csignal>
#include <fcntl.h>
#include <iterator>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace saving_test {
namespace {

using namespace dimwise;

struct seq : position_dim<> {};
struct key : prime<seq> {};
struct d_k : feature_dim<4> {};

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
// While one exists, no file becomes larger.
class small_files {
 public:
  small_files() : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit small{1000, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
  }
  small_files(const small_files&) = delete;
  small_files& operator=(const small_files&) = delete;
  ~small_files() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  void (*handler_)(int);
  rlimit before_{};
};

TEST_CASE("saving: a report and a picture that the disk has no room for leave the old file") {
  const dimwise_test::temporary_folder folder;
  const tensor<float, seq, key> weights{{0.5F, 0.5F}, {0.1F, 0.9F}};
  attention_report page("page");
  page.add_weights("weights", weights);
  const auto fails = [&](const std::string& name, const auto& save) {
    folder.write(name, "old");
    std::string said;
    {
      const small_files limit;
      said = dimwise_test::message([&] { save((folder / name).string()); });
    }
    CHECK(said.find(name + ": the file cannot be written: File too large") != std::string::npos);
    CHECK(text_of(folder / name) == "old");
    CHECK(dimwise_test::files_in(folder.path()) == 1);
    save((folder / name).string());
    CHECK(text_of(folder / name).size() > 1000);
    CHECK(dimwise_test::files_in(folder.path()) == 1);
    std::filesystem::remove(folder / name);
  };
  fails("page.html", [&](const std::string& path) { page.save(path); });
  fails("picture.svg", [&](const std::string& path) { draw(weights).save(path); });
  fails("formula.html", [&](const std::string& path) { report(weights * 2.0F, path); });
}

TEST_CASE("saving: a page leaves the old file where memory runs out") {
  const dimwise_test::temporary_folder folder;
  attention_report page("page");
  page.add_weights("weights", tensor<float, seq, key>{{0.5F, 0.5F}, {0.1F, 0.9F}});
  const auto path = folder / "page.html";
  page.save(path.string());
  folder.write("page.html", "old");
  CHECK(dimwise_test::each_allocation_fails([&](const auto& work) {
    const bool ended = work([&] { page.save(path.string()); });
    CHECK((text_of(path) == "old") != ended);
    CHECK(dimwise_test::files_in(folder.path()) == 1);
  }) > 5);
}

TEST_CASE("saving: a page goes to a pipe, which stays one") {
  const dimwise_test::temporary_folder folder;
  const auto path = folder / "pipe";
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  const int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK);
  draw(tensor<float, seq, key>{{0.5F}}).save(path.string());
  char begin[5] = {};
  CHECK(::read(reader, begin, 4) == 4);
  CHECK(std::string(begin) == "<svg");
  ::close(reader);
  CHECK(std::filesystem::is_fifo(path));
}

}  // namespace
}  // namespace saving_test

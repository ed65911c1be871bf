// tests/viz/training_report.test.cpp -- the page of a training: when it is written, what it says, what it draws.
//
// SPDX-License-Identifier: BSL-1.0
#include "support/texts.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/viz.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <unistd.h>
#include <utility>

namespace training_report_test {
namespace {

using namespace dimwise;
using dimwise_test::count;
using dimwise_test::has;

struct folder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path().append("dimwise-training-" + std::to_string(::getpid()));
  folder() { std::filesystem::create_directories(path); }
  folder(const folder&) = delete;
  folder& operator=(const folder&) = delete;
  ~folder() { std::filesystem::remove_all(path); }
  [[nodiscard]] std::string file() const { return (path.string() + "/training.html"); }
  [[nodiscard]] std::string content() const {
    std::ifstream in(file(), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
};

TEST_CASE("training_report: the page is written at once, once per interval, and at the end") {
  const folder f;
  training_report page(f.file(), {.title = "a <b>", .loss = "nats per byte", .steps = 4, .interval = 1e6});
  CHECK(has(f.content(), "<title>a &lt;b&gt;</title>"));
  CHECK(has(f.content(), ">Training. No step is done.</p>"));
  const std::string first = f.content();
  page.add_step(1, {.loss = 2.5, .rate = 1e-3, .gradient_norm = 0.5, .seconds = 2});
  page.add_text(1, "text");
  CHECK(f.content() == first);  // within the interval
  CHECK(has(page.html(),
            ">Training. Step 1 of 4: loss 2.5 nats per byte, learning rate 0.001, gradient norm 0.5, 2 s per "
            "step, about 6 s left.</p>"));
  page.save();
  CHECK(has(f.content(), "Step 1 of 4"));
  CHECK(has(f.content(), "data-interval=\"1e+06\""));
  page.finish("stopped by <you>");
  CHECK(has(f.content(), ">The training has ended: stopped by &lt;you&gt;. Step 1 of 4"));
  CHECK_FALSE(has(f.content(), "data-interval"));
  CHECK_FALSE(has(f.content(), "http-equiv"));
  CHECK(std::distance(std::filesystem::directory_iterator(f.path), {}) == 1);  // no temporary file is left

  training_report often(f.file(), {.interval = 0});
  often.add_step(7, {.loss = 1});
  CHECK(has(f.content(), "Step 7: loss 1, "));
  CHECK(has(f.content(), "<noscript><meta http-equiv=\"refresh\" content=\"0.5\"></noscript>"));
  often.add_text(7, "now");
  CHECK(has(f.content(), ">now</pre>"));
}

TEST_CASE("training_report: a chart for each quantity that is given") {
  const folder f;
  training_report page(f.file(), {.interval = 1e6});
  CHECK(count(page.html(), "<svg") == 0);
  page.add_step(1, {.loss = 3});
  CHECK(count(page.html(), "<svg") == 2);  // loss, and time per step
  CHECK_FALSE(has(page.html(), "learning rate"));
  page.add_step(3, {.loss = 2, .rate = 0.25});
  page.add_step(4, {.loss = 1});
  page.add_step(9, {.loss = 1, .rate = 0.5, .gradient_norm = 4});
  const std::string html = page.html();
  CHECK(count(html, "<svg") == 4);
  CHECK(has(html, "<desc>loss. From 3 to 1 in 4 steps.</desc>"));
  CHECK(has(html, "<desc>learning rate. From 0.25 to 0.5 in 2 steps.</desc>"));
  CHECK(has(html, ">step</text>"));
  CHECK_FALSE(has(html, "mean of"));
}

TEST_CASE("training_report: long trainings are means, and NaN and infinities are counted by kind") {
  const folder f;
  training_report page(f.file(), {.interval = 1e6});
  for (std::size_t step = 1; step <= 1000; ++step) {
    const double odd = step == 10 ? std::nan("") : (step < 13 ? INFINITY : -INFINITY);
    page.add_step(step,
                  {.loss = step >= 10 && step <= 15 ? odd : 1, .gradient_norm = step == 500 ? 9 : 1, .seconds = 1});
  }
  const std::string html = page.html();
  CHECK(html.size() < 60000);
  CHECK(has(html, ">mean of 3 steps; not drawn: 1 ∞, 1 -∞</text>"));
  CHECK(has(html, ">loss: 1 NaN, 2 ∞, 3 -∞ in 1000 steps</figcaption>"));
  CHECK(has(html, ">largest of 3</text>"));
  CHECK(has(html, ">10</text>"));  // the peak of the norm is drawn
  page.add_step(1001, {.loss = std::nan("")});
  CHECK(has(page.html(), "Step 1001: loss NaN, "));
}

TEST_CASE("training_report: the last texts, as they are, newest first") {
  const folder f;
  training_report page(f.file(), {.interval = 1e6});
  for (std::size_t step = 1; step <= 22; ++step) { page.add_text(step, "a </pre>\n\nb\t" + std::to_string(step)); }
  const std::string html = page.html();
  CHECK(count(html, "<pre") == 20);
  CHECK(html.find("after step 22") < html.find("after step 21"));
  CHECK(has(html, ">a &lt;/pre&gt;\n\nb␉22</pre>"));
  CHECK(has(html, "<p>2 earlier texts are left out.</p>"));
}

TEST_CASE("training_report: what is rejected") {
  const folder f;
  CHECK_THROWS_WITH_AS(training_report("/nowhere/x.html"),
                       "training_report: /nowhere/x.html: the file cannot be written: No such file or directory",
                       error);
  for (const auto& one : {std::pair(-1.5, "-1.5"), std::pair(std::nan(""), "nan"), std::pair(HUGE_VAL, "inf")}) {
    const std::string said =
        std::string("training_report: the interval is ") + one.second + " s, 0 or more were expected";
    CHECK_THROWS_WITH_AS(training_report(f.file(), {.interval = one.first}), said.c_str(), error);
  }
  training_report page(f.file());
  page.add_step(5, {.loss = 1});
  CHECK_THROWS_WITH_AS(page.add_step(5, {.loss = 1}), "training_report: step 5 follows step 5", error);
}

}  // namespace
}  // namespace training_report_test

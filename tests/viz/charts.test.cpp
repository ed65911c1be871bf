// tests/viz/charts.test.cpp -- curves over x, dots in rows, and the places and marks of axes.
//
// SPDX-License-Identifier: BSL-1.0
#include "support/texts.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/viz.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace charts_test {
namespace {

using namespace dimwise;
using dimwise_test::count;
using dimwise_test::has;

detail::chart_axis of(bool logarithmic, const std::vector<double>& values) {
  detail::chart_axis a(logarithmic);
  for (const double v : values) { a.take(v); }
  a.end_at_marks(5);
  return a;
}
using marks = std::vector<double>;

TEST_CASE("charts: marks are round and enclose the values") {
  CHECK(of(false, {1, 9}).marks() == marks{0, 2, 4, 6, 8, 10});
  CHECK(of(false, {0.001, 0.001}).marks().back() == doctest::Approx(0.001));  // a constant has a scale of its size
  CHECK(of(false, {0, 0}).marks().back() == 1);
  CHECK(of(false, {-3, -3}).marks().front() == doctest::Approx(-3));
  CHECK(of(true, {0.9, 1.6}).marks() == marks{0.5, 1, 2});
  CHECK(of(true, {1, 2}).marks() == marks{1, 2});
  CHECK(of(true, {2, 2}).marks() == marks{2, 5});
  CHECK(of(true, {0.3, 2000}).marks() == marks{0.1, 1, 10, 100, 1000, 10000});
  CHECK(of(true, {0, -1, INFINITY, std::nan("")}).marks() == marks{1, 2});
  CHECK(of(true, {1e-299, 1e299}).marks().size() < 610);
}
TEST_CASE("charts: a logarithmic axis has equal steps for equal ratios") {
  const detail::chart_axis a = of(true, {1, 100});
  CHECK(a.place(1) == doctest::Approx(0));
  CHECK(a.place(10) == doctest::Approx(0.5));
  CHECK(a.place(100) == doctest::Approx(1));
  CHECK_FALSE(a.has(0));
  CHECK(of(false, {0, 100}).place(10) == doctest::Approx(0.1));
}

TEST_CASE("charts: curves over x") {
  const std::vector<curve> growth{{"time", {1, 10, 100}, {128, 256, 512}}};
  const std::string s = draw_curves(growth, {.title = "growth", .x = "n", .log_x = true, .log_y = true}).svg();
  CHECK(has(s, "M62 308L372 178L682 48"));  // a straight line from corner to corner
  CHECK(has(s, ">256</text>"));
  CHECK_FALSE(has(s, ">200</text>"));
  // An even axis has marks of its own.
  CHECK(has(draw_curves(growth, {.x = "n"}).svg(), ">400</text>"));
  // Zero has no place on a logarithmic axis.
  const std::string gap = draw_curves({{"", {1, 0, 100}}}, {.log_y = true}).svg();
  CHECK(has(gap, "M62 308h0.01M682 48h0.01"));
  CHECK(has(gap, ">not drawn: 1 not above 0</text>"));
  CHECK(has(draw_curves(growth, {.width = 100}).svg(), "width=\"186\""));
  CHECK_THROWS_WITH_AS((void)draw_curves({{"time", {1, 2}, {1}}}), "draw_curves: time has 2 values and 1 x coordinates",
                       extent_error);
}

TEST_CASE("charts: curves that hide each other differ in dashes, and what is not drawn is counted by kind") {
  const std::vector<double> same{1, 2};
  const std::string s = draw_curves({{"a", same}, {"b", same}, {"c", same}}).svg();
  const std::string line = "<path d=\"M62 178L682 48\" class=\"strand ";
  CHECK(has(s, line + "k0\""));
  CHECK(has(s, line + "k1 d1\""));
  CHECK(has(s, line + "k2 d2\""));
  CHECK(count(s, "h40\" class=\"strand k1 d1\"") == 1);  // and so in the legend
  const std::vector<curve> nine(9, curve{"", same});
  CHECK(has(draw_curves(nine).svg(), "strand k0 d1"));  // the colour of the first, and other dashes

  const double inf = INFINITY;
  const std::string odd = draw_curves({{"loss", {1, std::nan(""), inf, -inf, -inf, 2}}, {"other", same}}).svg();
  CHECK(has(odd, ">loss; not drawn: 1 NaN, 1 ∞, 2 -∞</text>"));
  CHECK(has(odd, "in 6 steps. loss; not drawn: 1 NaN, 1 ∞, 2 -∞."));
  CHECK(has(odd, ">other</text>"));
  CHECK(has(draw_curves({{"", {1, 2}, {inf, 1}}}).svg(), ">not drawn: 1 ∞</text>"));
}

TEST_CASE("charts: dots that hide each other are moved apart, and differ in shape") {
  CHECK(detail::moved_apart({1, 100, 1}) == std::vector<double>{-4.5, 0, 4.5});
  CHECK(detail::moved_apart({20, 11.5, 3}) == std::vector<double>{9, 0, -9});
  CHECK(detail::moved_apart({1, 10}) == std::vector<double>{0, 0});
  CHECK(detail::moved_apart({}).empty());
  for (std::size_t k = 0; k < detail::colour_count; ++k) {
    for (std::size_t other = 0; other < k; ++other) { CHECK(detail::mark_of(k, 0, 0) != detail::mark_of(other, 0, 0)); }
  }
}

TEST_CASE("charts: dots in rows") {
  // Rows are as high as the dots that lie beside each other need.
  const std::vector<curve> four(4, curve{"", {1, 1}});
  CHECK(has(draw_dots({"a", "b"}, {{"", {1, 1}}}).svg(), "height=\"170\""));
  CHECK(has(draw_dots({"a", "b"}, four).svg(), "height=\"210\""));
  const std::string s =
      draw_dots({"a<b", "second"}, {{"ours", {1, 1}}, {"theirs", {2, std::nan("")}}}, {.title = "time", .log = true})
          .svg();
  CHECK(has(s, ">a&lt;b</text>"));
  CHECK(has(s, "<title>a&lt;b, theirs: 2</title>"));
  CHECK(count(s, "class=\"dot mark k0\"") == 2 + 1);  // and the key
  CHECK(count(s, "class=\"dot mark k1\"") == 1 + 1);
  CHECK(has(s, ">theirs; not drawn: 1 NaN</text>"));
  CHECK(has(s, "<desc>time. a&lt;b: ours 1; theirs 2; second: ours 1; theirs; not drawn: 1 NaN.</desc>"));
  CHECK_FALSE(has(draw_dots({}, {}).svg(), "nan"));
  CHECK_THROWS_WITH_AS((void)draw_dots({"a"}, {{"ours", {1, 2}}}), "draw_dots: ours has 2 values for 1 rows",
                       extent_error);
}

}  // namespace
}  // namespace charts_test

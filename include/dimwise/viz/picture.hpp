// SPDX-License-Identifier: BSL-1.0
// dimwise/viz/picture.hpp -- a picture: SVG with a title and a description; one style sheet for all of them.
//
// Layer: viz. Elements name classes; the style sheet gives these their colours for light, dark and paper, so that a
// picture looks alike alone, in a page and in a report. Letters have one width, so that boxes fit without a browser.
// Tests: tests/viz/pictures.test.cpp
//
//   draw(y).save("attention.svg");
#pragma once

#include <dimwise/dim/error.hpp>
#include <dimwise/support/file_draft.hpp>
#include <dimwise/support/text_warning.hpp>
#include <dimwise/viz/words.hpp>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

DIMWISE_DETAIL_TEXT_BEGIN;

namespace dimwise {

namespace detail {

// Classes: c0 … c7 the colours of dimensions; ink, soft, faint for words; box; heat and cold for numbers above and
// below zero; odd for special values; off for what a mask hides; d1 … d7 the dashes of curves, mark for those of
// dots.
inline constexpr const char* style_sheet =
#include <dimwise/viz/pictures/picture.css>
    ;

inline constexpr double letter_width = 7.25;  // of 12 pixels' letters, at most

// A number for SVG, in every locale alike.
inline std::string svg_number(double v) {
  if (!std::isfinite(v)) { v = 0; }
  char digits[64];
  const auto r = std::to_chars(digits, digits + sizeof(digits), std::round(v * 100) / 100);
  return {digits, r.ptr};
}

// Writes a file completely or not at all; a pipe or device directly. Throws `error` if that fails.
inline void save_file(const char* what, const std::string& path, const std::string& content) {
  std::error_code problem;
  const std::filesystem::file_status there = std::filesystem::status(path, problem);
  const auto write = [&](const std::filesystem::path& to) {
    std::ofstream file(to, std::ios::binary);
    file << content;
    file.close();
    return !file.fail();
  };
  const auto refused = [](const char* who, const std::string& text) {
    throw error(error{} << who << ": " << text.c_str());
  };
  if (std::filesystem::is_character_file(there) || std::filesystem::is_fifo(there)) {
    if (!write(path)) { refused(what, path + ": the file cannot be written"); }
    return;
  }
  file_draft draft(path, refused, what);
  if (!write(draft.name())) { draft.refuse(errno); }
  draft.place();
}

// Elements of SVG, one after the other.
class canvas {
 public:
  void text(double x, double y, const std::string& words, const char* classes = "") {
    all_ += "<text" + at(x, y) + style(classes) + ">" + in_xml(words) + "</text>\n";
  }
  void turned_text(double x, double y, double degrees, const std::string& words, const char* classes = "") {
    all_ += "<text transform=\"translate(" + svg_number(x) + " " + svg_number(y) + ") rotate(" + svg_number(degrees) +
            ")\"" + style(classes) + ">" + in_xml(words) + "</text>\n";
  }
  void rectangle(double x, double y, double w, double h, const std::string& classes, double radius = 0,
                 double opacity = 1, const std::string& title = "") {
    all_ += "<rect" + at(x, y) + " width=\"" + svg_number(w) + "\" height=\"" + svg_number(h) + "\"" + style(classes) +
            (radius > 0 ? " rx=\"" + svg_number(radius) + "\"" : "") +
            (opacity < 1 ? " fill-opacity=\"" + svg_number(opacity) + "\"" : "");
    all_ += titled("rect", title);
  }
  void path(const std::string& d, const std::string& classes, double opacity = 1, const std::string& title = "") {
    all_ += "<path d=\"" + d + "\"" + style(classes) +
            (opacity < 1 ? " fill-opacity=\"" + svg_number(opacity) + "\"" : "") + titled("path", title);
  }
  void dot(double x, double y, double radius, const std::string& classes, const std::string& title = "") {
    all_ += "<circle cx=\"" + svg_number(x) + "\" cy=\"" + svg_number(y) + "\" r=\"" + svg_number(radius) + "\"" +
            style(classes) + titled("circle", title);
  }
  // Elements that a caller has written and escaped.
  void raw(const std::string& elements) { all_ += elements; }
  [[nodiscard]] const std::string& str() const& { return all_; }
  [[nodiscard]] std::string str() const&& { return all_; }

 private:
  static std::string at(double x, double y) { return " x=\"" + svg_number(x) + "\" y=\"" + svg_number(y) + "\""; }
  // The end of an element, with what is read to those who point at it.
  static std::string titled(const char* element, const std::string& title) {
    return title.empty() ? "/>\n" : "><title>" + in_xml(title) + "</title></" + element + ">\n";
  }
  static std::string style(const std::string& classes) { return classes.empty() ? "" : " class=\"" + classes + "\""; }
  std::string all_{};
};

inline std::string point(double x, double y) { return svg_number(x) + " " + svg_number(y); }
// From one point down to another, without a corner.
inline std::string strand(double x0, double y0, double x1, double y1) {
  const double middle = (y0 + y1) / 2;
  return "M" + point(x0, y0) + "C" + point(x0, middle) + " " + point(x1, middle) + " " + point(x1, y1);
}

}  // namespace detail

/// A picture with a title and a description for those who do not see it.
class picture {
 public:
  /// Of elements of SVG, which are escaped already.
  picture(double width, double height, std::string title, std::string description, std::string elements)
      : width_(width),
        height_(height),
        title_(std::move(title)),
        description_(std::move(description)),
        elements_(std::move(elements)) {}

  /// Its size in pixels, and its title.
  [[nodiscard]] double width() const { return width_; }
  [[nodiscard]] double height() const { return height_; }
  [[nodiscard]] const std::string& title() const& { return title_; }
  [[nodiscard]] std::string title() const&& { return title_; }
  /// An SVG file.
  [[nodiscard]] std::string svg() const { return element(std::string("<style>") + detail::style_sheet + "</style>\n"); }
  /// The same for a page that has the style sheet.
  [[nodiscard]] std::string inner_svg() const { return element(""); }
  /// Writes the file, whole or not at all. Throws `error` where that cannot be done.
  void save(const std::string& path) const { detail::save_file("picture", path, svg()); }

 private:
  [[nodiscard]] std::string element(const std::string& style) const {
    const std::string w = detail::svg_number(std::ceil(width_));
    const std::string h = detail::svg_number(std::ceil(height_));
    return R"(<svg xmlns="http://www.w3.org/2000/svg" class="dw" role="img" width=")" + w + "\" height=\"" + h +
           "\" viewBox=\"0 0 " + w + " " + h + "\" style=\"max-width:100%;height:auto\">\n<title>" +
           detail::in_xml(title_) + "</title>\n<desc>" + detail::in_xml(description_) + "</desc>\n" + style +
           "<rect class=\"paper\" width=\"100%\" height=\"100%\" rx=\"8\"/>\n" + elements_ + "</svg>\n";
  }
  double width_;
  double height_;
  std::string title_;
  std::string description_;
  std::string elements_;
};

}  // namespace dimwise

DIMWISE_DETAIL_TEXT_END;

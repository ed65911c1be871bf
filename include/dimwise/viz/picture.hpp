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
#include <dimwise/support/files/file_draft.hpp>
#include <dimwise/support/library.hpp>
#include <dimwise/support/text_warning.hpp>
#include <dimwise/viz/text/words.hpp>

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
DIMWISE_DETAIL_LIBRARY std::string svg_number(double v);

// Writes a file completely or not at all; a pipe or device directly. Throws `error` if that fails.
DIMWISE_DETAIL_LIBRARY void save_file(const char* what, const std::string& path, const std::string& content);

// Elements of SVG, one after the other.
class canvas {
 public:
  void text(double x, double y, const std::string& words, const char* classes = "");
  void turned_text(double x, double y, double degrees, const std::string& words, const char* classes = "");
  void rectangle(double x, double y, double w, double h, const std::string& classes, double radius = 0,
                 double opacity = 1, const std::string& title = "");
  void path(const std::string& d, const std::string& classes, double opacity = 1, const std::string& title = "");
  void dot(double x, double y, double radius, const std::string& classes, const std::string& title = "");
  // Elements that a caller has written and escaped.
  void raw(const std::string& elements) { all_ += elements; }
  [[nodiscard]] const std::string& str() const& { return all_; }
  [[nodiscard]] std::string str() const&& { return all_; }

 private:
  static std::string at(double x, double y);
  // The end of an element, with what is read to those who point at it.
  static std::string titled(const char* element, const std::string& title);
  static std::string style(const std::string& classes);
  std::string all_{};
};

DIMWISE_DETAIL_LIBRARY std::string point(double x, double y);
// From one point down to another, without a corner.
DIMWISE_DETAIL_LIBRARY std::string strand(double x0, double y0, double x1, double y1);

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
  [[nodiscard]] std::string svg() const;
  /// The same for a page that has the style sheet.
  [[nodiscard]] std::string inner_svg() const;
  /// Writes the file, whole or not at all. Throws `error` where that cannot be done.
  void save(const std::string& path) const;

 private:
  [[nodiscard]] std::string element(const std::string& style) const;
  double width_;
  double height_;
  std::string title_;
  std::string description_;
  std::string elements_;
};

}  // namespace dimwise

DIMWISE_DETAIL_TEXT_END;

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/viz/picture_definitions.hpp>
#endif

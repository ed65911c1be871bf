// SPDX-License-Identifier: BSL-1.0
// dimwise/viz/picture_definitions.hpp -- elements of pictures, and files of them (support/library.hpp).
//
// Layer: viz.
#pragma once

#include <dimwise/viz/picture.hpp>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

DIMWISE_DETAIL_TEXT_BEGIN;

namespace dimwise::detail {

DIMWISE_DETAIL_LIBRARY std::string svg_number(double v) {
  if (!std::isfinite(v)) { v = 0; }
  char digits[64];
  const auto r = std::to_chars(digits, digits + sizeof(digits), std::round(v * 100) / 100);
  return {digits, r.ptr};
}

DIMWISE_DETAIL_LIBRARY void save_file(const char* what, const std::string& path, const std::string& content) {
  std::error_code problem;
  const std::filesystem::file_status there = std::filesystem::status(path, problem);
  const auto write = [&](const std::filesystem::path& to) {
    std::ofstream file(to, std::ios::binary);
    file << content;
    file.close();
    return !file.fail();
  };
  const auto refused = [](const char* who, const std::string& text) {
    throw error(error{} << who << ": " << (text.starts_with(": ") ? "an empty file name" : "") << text.c_str());
  };
  if (std::filesystem::is_character_file(there) || std::filesystem::is_fifo(there)) {
    if (!write(path)) { refused(what, path + ": the file cannot be written"); }
    return;
  }
  file_draft draft(path, refused, what);
  if (!write(draft.name())) { draft.refuse(errno); }
  draft.place();
}

DIMWISE_DETAIL_LIBRARY void canvas::text(double x, double y, const std::string& words, const char* classes) {
  all_ += "<text" + at(x, y) + style(classes) + ">" + in_xml(words) + "</text>\n";
}

DIMWISE_DETAIL_LIBRARY void canvas::turned_text(double x, double y, double degrees, const std::string& words,
                                                const char* classes) {
  all_ += "<text transform=\"translate(" + svg_number(x) + " " + svg_number(y) + ") rotate(" + svg_number(degrees) +
          ")\"" + style(classes) + ">" + in_xml(words) + "</text>\n";
}

DIMWISE_DETAIL_LIBRARY void canvas::rectangle(double x, double y, double w, double h, const std::string& classes,
                                              double radius, double opacity, const std::string& title) {
  all_ += "<rect" + at(x, y) + " width=\"" + svg_number(w) + "\" height=\"" + svg_number(h) + "\"" + style(classes) +
          (radius > 0 ? " rx=\"" + svg_number(radius) + "\"" : "") +
          (opacity < 1 ? " fill-opacity=\"" + svg_number(opacity) + "\"" : "");
  all_ += titled("rect", title);
}

DIMWISE_DETAIL_LIBRARY void canvas::path(const std::string& d, const std::string& classes, double opacity,
                                         const std::string& title) {
  all_ += "<path d=\"" + d + "\"" + style(classes) +
          (opacity < 1 ? " fill-opacity=\"" + svg_number(opacity) + "\"" : "") + titled("path", title);
}

DIMWISE_DETAIL_LIBRARY void canvas::dot(double x, double y, double radius, const std::string& classes,
                                        const std::string& title) {
  all_ += "<circle cx=\"" + svg_number(x) + "\" cy=\"" + svg_number(y) + "\" r=\"" + svg_number(radius) + "\"" +
          style(classes) + titled("circle", title);
}

DIMWISE_DETAIL_LIBRARY std::string canvas::at(double x, double y) {
  return " x=\"" + svg_number(x) + "\" y=\"" + svg_number(y) + "\"";
}

DIMWISE_DETAIL_LIBRARY std::string canvas::titled(const char* element, const std::string& title) {
  return title.empty() ? "/>\n" : "><title>" + in_xml(title) + "</title></" + element + ">\n";
}

DIMWISE_DETAIL_LIBRARY std::string canvas::style(const std::string& classes) {
  return classes.empty() ? "" : " class=\"" + classes + "\"";
}

DIMWISE_DETAIL_LIBRARY std::string point(double x, double y) { return svg_number(x) + " " + svg_number(y); }

DIMWISE_DETAIL_LIBRARY std::string strand(double x0, double y0, double x1, double y1) {
  const double middle = (y0 + y1) / 2;
  return "M" + point(x0, y0) + "C" + point(x0, middle) + " " + point(x1, middle) + " " + point(x1, y1);
}

}  // namespace dimwise::detail

namespace dimwise {

DIMWISE_DETAIL_LIBRARY std::string picture::svg() const {
  return element(std::string("<style>") + detail::style_sheet + "</style>\n");
}

DIMWISE_DETAIL_LIBRARY std::string picture::inner_svg() const { return element(""); }

DIMWISE_DETAIL_LIBRARY void picture::save(const std::string& path) const { detail::save_file("picture", path, svg()); }

DIMWISE_DETAIL_LIBRARY std::string picture::element(const std::string& style) const {
  const std::string w = detail::svg_number(std::ceil(width_));
  const std::string h = detail::svg_number(std::ceil(height_));
  return R"(<svg xmlns="http://www.w3.org/2000/svg" class="dw" role="img" width=")" + w + "\" height=\"" + h +
         "\" viewBox=\"0 0 " + w + " " + h + "\" style=\"max-width:100%;height:auto\">\n<title>" +
         detail::in_xml(title_) + "</title>\n<desc>" + detail::in_xml(description_) + "</desc>\n" + style +
         "<rect class=\"paper\" width=\"100%\" height=\"100%\" rx=\"8\"/>\n" + elements_ + "</svg>\n";
}

}  // namespace dimwise

DIMWISE_DETAIL_TEXT_END;

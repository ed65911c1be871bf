// SPDX-License-Identifier: BSL-1.0
// dimwise/viz/pictures/weights_definitions.hpp -- heat maps (support/library.hpp).
//
// Layer: viz.
#pragma once

#include <dimwise/viz/pictures/weights.hpp>

#include <algorithm>
#include <cmath>
#include <string>

DIMWISE_DETAIL_TEXT_BEGIN;

namespace dimwise::detail {

DIMWISE_DETAIL_LIBRARY heat_maps::heat_maps(const charted_values& c)
    : c_(c), rank_(c.dims.size()), rows_(rank_ > 1 ? c.dims[rank_ - 2].extent : 1), columns_(c.dims[rank_ - 1].extent) {
  for (const double v : c.values) { most_ = std::isfinite(v) ? std::max(most_, std::fabs(v)) : most_; }
  const std::size_t longest = std::max(rows_, columns_);
  cell_ = longest <= 12 ? 34 : (longest <= 40 ? 18 : std::max(3.0, 720.0 / static_cast<double>(longest)));
  every_ = std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(13 / cell_)));
  left_ = 22 + letter_width * static_cast<double>(std::max(rank_ > 1 ? widest(rank_ - 2) : 0, columns_of(corner())));
  const double above = letter_width * static_cast<double>(widest(rank_ - 1));
  turned_ = above > cell_ * static_cast<double>(every_) - 6;
  top_ = 44 + (turned_ ? above : letter_width);
}

DIMWISE_DETAIL_LIBRARY picture heat_maps::drawn(const std::string& title) const {
  const std::size_t one = rows_ * columns_;
  const std::size_t maps = one == 0 ? 0 : c_.values.size() / one;
  const double wide = std::max(left_ + cell_ * static_cast<double>(columns_) + 24, 150.0);
  const double high = top_ + cell_ * static_cast<double>(rows_) + 20;
  const auto across = std::max<std::size_t>(1, std::min(maps, static_cast<std::size_t>(1000 / wide)));
  canvas c;
  for (std::size_t m = 0; m < maps; ++m) {
    const std::size_t row = m / across;
    map(c, m, wide * static_cast<double>(m % across), high * static_cast<double>(row));
  }
  const std::size_t rows = (maps + across - 1) / across;
  const double below = high * static_cast<double>(rows) + 16;
  legend(c, below);
  return {std::max(wide * static_cast<double>(across), 300.0), below + 16, title, description(), c.str()};
}

DIMWISE_DETAIL_LIBRARY std::size_t heat_maps::widest(std::size_t dim) const {
  std::size_t n = 1;
  for (std::size_t i = 0; i < c_.dims[dim].extent; i += every_) { n = std::max(n, columns_of(c_.dims[dim].word(i))); }
  return n;
}

DIMWISE_DETAIL_LIBRARY std::string heat_maps::corner() const {
  return (rank_ > 1 ? c_.dims[rank_ - 2].name + " \\ " : "") + c_.dims[rank_ - 1].name;
}

DIMWISE_DETAIL_LIBRARY std::string heat_maps::number(double v) {
  if (std::isnan(v)) { return "NaN"; }
  if (std::isinf(v)) { return v < 0 ? "-∞" : "∞"; }
  std::string s = svg_number(v);
  return s == "-0" ? "0" : (s.rfind("0.", 0) == 0 ? s.substr(1) : s);
}

DIMWISE_DETAIL_LIBRARY void heat_maps::map(canvas& c, std::size_t m, double x, double y) const {
  c.text(x + left_, y + 20, place_in_words(c_.dims, m), "strong");
  const printed_dimension& along = c_.dims[rank_ - 1];
  c.text(x + left_ - 8, y + top_ - 8, corner(), "end soft small");
  for (std::size_t j = 0; j < columns_; j += every_) {
    const double middle = x + left_ + cell_ * (static_cast<double>(j) + 0.5);
    turned_ ? c.turned_text(middle + 4, y + top_ - 6, -90, along.word(j))
            : c.text(middle, y + top_ - 6, along.word(j), "middle");
  }
  for (std::size_t i = 0; rank_ > 1 && i < rows_; i += every_) {
    c.text(x + left_ - 8, y + top_ + cell_ * (static_cast<double>(i) + 0.5) + 4, c_.dims[rank_ - 2].word(i), "end");
  }
  x += left_;
  y += top_;
  c.rectangle(x, y, cell_ * static_cast<double>(columns_), cell_ * static_cast<double>(rows_), "cell");
  const double* const values = c_.values.data() + m * rows_ * columns_;
  rows_* columns_ <= 1600 ? cells(c, values, x, y) : levels(c, values, x, y);
}

DIMWISE_DETAIL_LIBRARY void heat_maps::cells(canvas& c, const double* values, double x, double y) const {
  for (std::size_t i = 0; i < rows_; ++i) {
    for (std::size_t j = 0; j < columns_; ++j) {
      const double v = values[i * columns_ + j];
      const double left = x + cell_ * static_cast<double>(j);
      const double top = y + cell_ * static_cast<double>(i);
      const double strength = !std::isfinite(v) ? 1 : (most_ > 0 ? std::fabs(v) / most_ : 0);
      std::string title = (rank_ > 1 ? c_.dims[rank_ - 2].word(i) + " → " : "") + c_.dims[rank_ - 1].word(j) + ": ";
      title += c_.truth ? (v != 0 ? "visible" : "hidden") : number(v);
      const char* const kind = !std::isfinite(v) ? "odd" : (c_.truth ? "on" : (v < 0 ? "cold" : "heat"));
      c.rectangle(left + 0.5, top + 0.5, cell_ - 1, cell_ - 1, kind, 2, std::isfinite(v) ? strength : 0.25, title);
      if (!std::isfinite(v)) { cross(c, left, top); }
      if (c_.truth && v == 0) { c.dot(left + cell_ / 2, top + cell_ / 2, 2, "off"); }
      if (!c_.truth && cell_ > 30 && number(v).size() < 5 && v != 0 && std::isfinite(v)) {
        c.text(left + cell_ / 2, top + cell_ / 2 + 4, number(v),
               strength > 0.55 ? "middle small inverse" : "middle small");
      }
    }
  }
}

DIMWISE_DETAIL_LIBRARY void heat_maps::cross(canvas& c, double x, double y) const {
  c.path("M" + point(x + 3, y + 3) + "L" + point(x + cell_ - 3, y + cell_ - 3) + "M" + point(x + cell_ - 3, y + 3) +
             "L" + point(x + 3, y + cell_ - 3),
         "off");
}

DIMWISE_DETAIL_LIBRARY void heat_maps::levels(canvas& c, const double* values, double x, double y) const {
  constexpr std::size_t count = 16;
  std::string paths[2 * count + 3];
  for (std::size_t i = 0; i < rows_; ++i) {
    for (std::size_t j = 0; j < columns_;) {
      const std::size_t level = level_of(values[i * columns_ + j], count);
      std::size_t end = j + 1;
      while (end < columns_ && level_of(values[i * columns_ + end], count) == level) { ++end; }
      if (level != count) {
        const std::string width = svg_number(cell_ * static_cast<double>(end - j));
        paths[level] += "M" + point(x + cell_ * static_cast<double>(j), y + cell_ * static_cast<double>(i)) + "h" +
                        width + "v" + svg_number(cell_) + "h-" + width + "z";
      }
      j = end;
    }
  }
  for (std::size_t l = 0; l < 2 * count + 3; ++l) {
    if (paths[l].empty()) { continue; }
    const double strength = std::fabs(static_cast<double>(l) - count) / count;
    c.path(paths[l], l > 2 * count ? "odd" : (c_.truth ? "on" : (l < count ? "cold" : "heat")),
           std::min(strength, 1.0));
  }
}

DIMWISE_DETAIL_LIBRARY std::size_t heat_maps::level_of(double v, std::size_t count) const {
  if (!std::isfinite(v)) { return 2 * count + 1; }
  const double n = static_cast<double>(count);
  return most_ > 0 ? static_cast<std::size_t>(std::lround(n + n * v / most_)) : count;
}

DIMWISE_DETAIL_LIBRARY void heat_maps::legend(canvas& c, double y) const {
  if (c_.truth) {
    c.rectangle(14, y - 10, 12, 12, "on", 2);
    c.text(32, y, "visible");
    c.dot(120, y - 4, 2, "off");
    c.text(130, y, "hidden");
    return;
  }
  for (int i = 0; i < 5; ++i) { c.rectangle(26 + 14 * i, y - 10, 12, 12, "heat", 2, 0.05 + 0.2375 * i); }
  c.text(12, y, "0");
  c.text(102, y, number(most_));
  left_out odd;
  bool below = false;
  for (const double v : c_.values) {
    odd.take(v, std::isfinite(v));
    below = below || (v < 0 && std::isfinite(v));
  }
  if (below) {
    c.rectangle(150, y - 10, 12, 12, "cold", 2);
    c.text(168, y, number(-most_));
  }
  const std::string kinds = odd.words();
  if (!kinds.empty()) { c.text(222, y, "× " + kinds, "soft"); }
}

DIMWISE_DETAIL_LIBRARY std::string heat_maps::description() const {
  std::string s = c_.truth ? "A mask." : "Values; the largest of a row:";
  for (std::size_t i = 0; !c_.truth && rank_ > 1 && columns_ > 0 && i < std::min<std::size_t>(rows_, 20); ++i) {
    if (c_.values.empty()) { break; }
    const double* const row = c_.values.data() + i * columns_;
    const std::size_t best = static_cast<std::size_t>(std::max_element(row, row + columns_) - row);
    s += " " + c_.dims[rank_ - 2].word(i) + " → " + c_.dims[rank_ - 1].word(best) + " " + number(row[best]) + ";";
  }
  return s;
}

}  // namespace dimwise::detail

DIMWISE_DETAIL_TEXT_END;

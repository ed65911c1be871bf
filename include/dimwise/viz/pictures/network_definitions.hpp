// SPDX-License-Identifier: BSL-1.0
// dimwise/viz/pictures/network_definitions.hpp -- the network of a step (support/library.hpp).
//
// Layer: viz.
#pragma once

#include <dimwise/viz/pictures/network.hpp>

#include <algorithm>
#include <string>
#include <vector>

DIMWISE_DETAIL_TEXT_BEGIN;

namespace dimwise::detail {

DIMWISE_DETAIL_LIBRARY picture network_of(const step_description& s) {
  const shape_description& a = s.operands[0].shape;
  const shape_description& b = s.operands[1].shape;
  dimension_colours colours;
  std::vector<dim_description> summed;
  std::vector<dim_description> shared;
  std::vector<dim_description> legs[2];
  const auto is_over = [&](const dim_description& d) {
    return std::find(s.over.begin(), s.over.end(), d.name) != s.over.end();
  };
  for (const shape_description* side : {&a, &b}) {
    const shape_description& other = side == &a ? b : a;
    for (const dim_description& d : side->dims) {
      colours.add(d.name);
      const bool both = has_name(other.dims, d.name);
      if (both && side == &b) { continue; }
      (is_over(d) ? summed : (both ? shared : legs[side == &a ? 0 : 1])).push_back(d);
    }
  }
  const auto name = [](const dim_description& d) { return d.name + " " + std::to_string(d.extent); };
  std::size_t letters = 4;
  std::size_t between = 8;
  for (const auto& all : legs) {
    for (const dim_description& d : all) { letters = std::max(letters, columns_of(name(d))); }
  }
  for (const dim_description& d : summed) { between = std::max(between, columns_of(name(d))); }
  for (const dim_description& d : shared) { between = std::max(between, columns_of(name(d))); }
  const double side = static_cast<double>(letters) * letter_width + 40;
  const double apart = static_cast<double>(between) * letter_width + 110;
  const double radius = 22;
  const double left = side + radius;
  const double right = left + apart;
  const double lines = static_cast<double>(std::max<std::size_t>({summed.size(), legs[0].size(), legs[1].size(), 1}));
  const double y = 40 + lines * 15;

  canvas c;
  const auto spread = [](std::size_t i, std::size_t n) {
    return static_cast<double>(i) - (static_cast<double>(n) - 1) / 2;
  };
  for (std::size_t i = 0; i < summed.size(); ++i) {
    const double bow = spread(i, summed.size()) * 34;
    c.path("M" + point(left, y) + "C" + point(left + apart / 3, y + bow * 1.33) + " " +
               point(right - apart / 3, y + bow * 1.33) + " " + point(right, y),
           "strand " + colour_class(colours, summed[i].name));
    c.text((left + right) / 2, y + bow - 6, name(summed[i]),
           ("middle name " + colour_class(colours, summed[i].name)).c_str());
  }
  for (std::size_t k = 0; k < 2; ++k) {
    const double from = k == 0 ? left : right;
    const double to = k == 0 ? left - radius - 14 : right + radius + 14;
    for (std::size_t i = 0; i < legs[k].size(); ++i) {
      const double end = y + spread(i, legs[k].size()) * 30;
      const std::string colour = colour_class(colours, legs[k][i].name);
      c.path("M" + point(from, y) + "L" + point(to, end), "strand " + colour);
      c.text(to + (k == 0 ? -6 : 6), end + 4, name(legs[k][i]), ((k == 0 ? "end name " : "name ") + colour).c_str());
    }
  }
  double bottom = y + lines * 15 + 14;
  for (const dim_description& d : shared) {
    bottom += 24;
    const std::string colour = colour_class(colours, d.name);
    c.path("M" + point(left, y) + "C" + point(left, bottom) + " " + point(left, bottom) + " " +
               point(left + 50, bottom) + "L" + point(right - 50, bottom) + "C" + point(right, bottom) + " " +
               point(right, bottom) + " " + point(right, y),
           "strand shared " + colour);
    c.text((left + right) / 2, bottom - 6, name(d), ("middle name " + colour).c_str());
  }
  c.dot(left, y, radius, "node");
  c.dot(right, y, radius, "node");
  c.text(left, y + 4, "left", "middle");
  c.text(right, y + 4, "right", "middle");
  c.text((left + right) / 2, bottom + 30, step_label(s), "middle strong");
  c.raw(coloured_dims(s.result, colours, (left + right) / 2, bottom + 50));
  return {left + right, bottom + 68, step_label(s), s.what, c.str()};
}

}  // namespace dimwise::detail

DIMWISE_DETAIL_TEXT_END;

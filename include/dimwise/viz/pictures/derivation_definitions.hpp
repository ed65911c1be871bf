// SPDX-License-Identifier: BSL-1.0
// dimwise/viz/pictures/derivation_definitions.hpp -- a derivation as a picture (support/library.hpp).
//
// Layer: viz.
#pragma once

#include <dimwise/viz/pictures/derivation.hpp>

#include <algorithm>
#include <string>
#include <vector>

DIMWISE_DETAIL_TEXT_BEGIN;

namespace dimwise::detail {

DIMWISE_DETAIL_LIBRARY std::string step_label(const step_description& s) {
  std::string label = s.operation;
  if (!s.over.empty()) { label += "<" + joined_names(s.over) + ">"; }
  if (!s.note.empty()) { label += " " + s.note; }
  for (const auto& [from, to] : step_changes(s).renamed) { label += " " + from + " → " + to; }
  return label;
}

DIMWISE_DETAIL_LIBRARY dimension_colours colours_of(const derivation& d) {
  dimension_colours all;
  for (const step_description& s : d.steps()) {
    for (const dim_description& dim : s.result.dims) { all.add(dim.name); }
  }
  return all;
}

DIMWISE_DETAIL_LIBRARY std::string colour_class(const dimension_colours& colours, const std::string& name) {
  return "k" + std::to_string(colours.of(name));
}

DIMWISE_DETAIL_LIBRARY std::string coloured_dims(const shape_description& s, const dimension_colours& colours, double x,
                                                 double y) {
  std::string all = "<text x=\"" + svg_number(x) + "\" y=\"" + svg_number(y) + R"(" class="middle">)";
  for (const dim_description& d : s.dims) {
    all += (&d == s.dims.data() ? "" : "<tspan>  </tspan>") + std::string("<tspan class=\"name ") +
           colour_class(colours, d.name) + "\">" + in_xml(d.name) + " " + std::to_string(d.extent) + "</tspan>";
  }
  return all + (s.dims.empty() ? "one number" : "") + "</text>\n";
}

DIMWISE_DETAIL_LIBRARY derivation_picture::derivation_picture(const derivation& d)
    : steps_(d.steps()), colours_(colours_of(d)) {
  root_ = gather(steps_.size());
  measure(root_, 0);
  const outline all = pack(root_);
  for (const double l : all.left) { left_ = std::min(left_, l); }
  for (const double r : all.right) { right_ = std::max(right_, r); }
  place(root_, margin - left_);
}

DIMWISE_DETAIL_LIBRARY picture derivation_picture::drawn(const std::string& description) const {
  double top = margin;
  std::vector<double> tops(heights_.size());
  for (std::size_t depth = heights_.size(); depth-- > 0;) {
    tops[depth] = top;
    top += heights_[depth] + gap;
  }
  canvas c;
  for (const group& g : groups_) {
    for (std::size_t i = 0; i < g.above.size(); ++i) { strands(c, g, i, tops); }
  }
  for (const group& g : groups_) { box(c, g, tops[g.depth]); }
  return {right_ - left_ + 2 * margin, top - gap + margin, "derivation of " + in_words(steps_.back().result),
          description, c.str()};
}

DIMWISE_DETAIL_LIBRARY std::size_t derivation_picture::gather(std::size_t number) {
  group g;
  g.steps = {number - 1};
  while (true) {
    const step_description& first = steps_[g.steps.front()];
    std::vector<const said*> operands;
    for (const said& o : first.operands) {
      if (o.step != 0) { operands.push_back(&o); }
    }
    const step_description* only = operands.size() == 1 ? &steps_[operands[0]->step - 1] : nullptr;
    if (only == nullptr || only->operands.empty() || !same_dims(only->result, first.result)) { break; }
    g.steps.insert(g.steps.begin(), operands[0]->step - 1);
  }
  const step_description& first = steps_[g.steps.front()];
  for (std::size_t i = 0; i < first.operands.size(); ++i) {
    if (first.operands[i].step == 0) { continue; }
    g.above.push_back(gather(first.operands[i].step));
    g.slots.push_back(i);
  }
  groups_.push_back(std::move(g));
  return groups_.size() - 1;
}

DIMWISE_DETAIL_LIBRARY bool derivation_picture::same_dims(const shape_description& a, const shape_description& b) {
  if (a.dims.size() != b.dims.size()) { return false; }
  for (std::size_t i = 0; i < a.dims.size(); ++i) {
    if (a.dims[i].name != b.dims[i].name) { return false; }
  }
  return true;
}

DIMWISE_DETAIL_LIBRARY const shape_description& derivation_picture::result(const group& g) const {
  return steps_[g.steps.back()].result;
}

DIMWISE_DETAIL_LIBRARY std::string derivation_picture::marks(const group& g) const {
  std::vector<std::string> names;
  for (const mark_description& m : result(g).marks) { names.push_back(m.name); }
  return joined_names(names);
}

DIMWISE_DETAIL_LIBRARY void derivation_picture::measure(std::size_t at, std::size_t depth) {
  group& g = groups_[at];
  g.depth = depth;
  std::size_t letters = columns_of(marks(g));
  for (const std::size_t s : g.steps) { letters = std::max(letters, columns_of(step_label(steps_[s]))); }
  std::size_t dims = 0;
  for (const dim_description& d : result(g).dims) {
    dims += columns_of(d.name) + 1 + std::to_string(d.extent).size() + (dims == 0 ? 0 : 2);
  }
  letters = std::max(std::max(letters, dims), std::size_t{10});
  g.width = static_cast<double>(letters) * letter_width + 22;
  g.height = line * static_cast<double>(g.steps.size() + 1 + (result(g).marks.empty() ? 0 : 1)) + 14;
  if (heights_.size() <= depth) { heights_.resize(depth + 1); }
  heights_[depth] = std::max(heights_[depth], g.height);
  for (const std::size_t a : g.above) { measure(a, depth + 1); }
}

DIMWISE_DETAIL_LIBRARY derivation_picture::outline derivation_picture::pack(std::size_t at) {
  group& g = groups_[at];
  outline all{{0}, {0}};
  for (const std::size_t a : g.above) {
    const outline o = pack(a);
    double shift = 0;
    for (std::size_t d = 0; d < o.left.size() && d + 1 < all.left.size(); ++d) {
      shift = std::max(shift, all.right[d + 1] + margin - o.left[d]);
    }
    groups_[a].middle = shift;
    for (std::size_t d = 0; d < o.left.size(); ++d) {
      if (d + 1 == all.left.size()) {
        all.left.push_back(shift + o.left[d]);
        all.right.push_back(shift + o.right[d]);
      } else {
        all.right[d + 1] = shift + o.right[d];
      }
    }
  }
  const double centre = g.above.empty() ? 0 : groups_[g.above.back()].middle / 2;
  for (const std::size_t a : g.above) { groups_[a].middle -= centre; }
  for (std::size_t d = 1; d < all.left.size(); ++d) {
    all.left[d] -= centre;
    all.right[d] -= centre;
  }
  all.left[0] = -g.width / 2;
  all.right[0] = g.width / 2;
  return all;
}

DIMWISE_DETAIL_LIBRARY void derivation_picture::place(std::size_t at, double middle) {
  groups_[at].middle += middle;
  for (const std::size_t a : groups_[at].above) { place(a, groups_[at].middle); }
}

DIMWISE_DETAIL_LIBRARY double derivation_picture::top_of(const group& g, double top) const {
  return top + heights_[g.depth] - g.height;
}

DIMWISE_DETAIL_LIBRARY void derivation_picture::strands(canvas& c, const group& g, std::size_t i,
                                                        const std::vector<double>& tops) const {
  const group& from = groups_[g.above[i]];
  const shape_description& held = result(from);
  const shape_description& kept = steps_[g.steps.front()].result;
  const bool renames = !step_changes(steps_[g.steps.front()]).renamed.empty();
  const double slots = static_cast<double>(g.above.size());
  const double enters = g.middle + ((static_cast<double>(i) + 0.5) / slots - 0.5) * (g.width - 16);
  const double y0 = tops[from.depth] + heights_[from.depth];
  const double y1 = top_of(g, tops[g.depth]);
  for (std::size_t d = 0; d < held.dims.size(); ++d) {
    const double offset = (static_cast<double>(d) - static_cast<double>(held.dims.size() - 1) / 2) * spread;
    const std::string colour = colour_class(colours_, held.dims[d].name);
    c.path(strand(from.middle + offset, y0, enters + offset, y1), "strand " + colour);
    if (!renames && !has_name(kept.dims, held.dims[d].name)) { c.dot(enters + offset, y1, 4, "dot " + colour); }
  }
}

DIMWISE_DETAIL_LIBRARY void derivation_picture::box(canvas& c, const group& g, double row) const {
  double y = top_of(g, row);
  const bool leaf = steps_[g.steps.front()].operands.empty();
  c.rectangle(g.middle - g.width / 2, y + 2, g.width, g.height - 4, leaf ? "leaf" : "box", leaf ? g.height / 2 : 6);
  y += 4;
  for (const std::size_t s : g.steps) {
    c.text(g.middle, y += line, step_label(steps_[s]), leaf ? "middle soft" : "middle strong");
  }
  c.raw(coloured_dims(result(g), colours_, g.middle, y += line));
  if (!result(g).marks.empty()) { c.text(g.middle, y + line, marks(g), "middle soft small"); }
}

}  // namespace dimwise::detail

DIMWISE_DETAIL_TEXT_END;

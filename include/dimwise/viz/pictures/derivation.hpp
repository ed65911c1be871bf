// SPDX-License-Identifier: BSL-1.0
// dimwise/viz/pictures/derivation.hpp -- draw(expr): a derivation as boxes with a coloured line for each dimension.
//
// Layer: viz. Operands are above their result. Consecutive unary steps that keep the dimensions share a box. A line
// that ends in a dot is a contracted or reduced dimension.
// Tests: tests/viz/pictures.test.cpp
//
//   draw(contract<key>(softmax<key>(scores<d_k>(q, k)), v)).save("attention.svg");
#pragma once

#include <dimwise/support/library.hpp>
#include <dimwise/support/text_warning.hpp>
#include <dimwise/viz/explain.hpp>
#include <dimwise/viz/picture.hpp>

#include <string>
#include <vector>

DIMWISE_DETAIL_TEXT_BEGIN;

namespace dimwise {

namespace detail {

// A short label of a step: "softmax<key>", "masked causal<seq, key>", "rename key → seq".
DIMWISE_DETAIL_LIBRARY std::string step_label(const step_description& s);

DIMWISE_DETAIL_LIBRARY dimension_colours colours_of(const derivation& d);
DIMWISE_DETAIL_LIBRARY std::string colour_class(const dimension_colours& colours, const std::string& name);

// The dimensions of a tensor in colour: "heads 2  seq 6".
DIMWISE_DETAIL_LIBRARY std::string coloured_dims(const shape_description& s, const dimension_colours& colours, double x,
                                                 double y);

class derivation_picture {
 public:
  explicit derivation_picture(const derivation& d);
  [[nodiscard]] picture drawn(const std::string& description) const;

 private:
  static constexpr double margin = 16;
  static constexpr double gap = 46;
  static constexpr double line = 17;
  static constexpr double spread = 7;

  struct group {
    std::vector<std::size_t> steps{};  // indices of steps, the topmost first
    std::vector<std::size_t> above{};  // groups
    std::vector<std::size_t> slots{};  // for each group above, the operand index of the first step
    std::size_t depth = 0;
    double width = 0;
    double height = 0;
    double middle = 0;  // relative to the group below; finally from the left edge
  };

  // The group that ends with this step.
  std::size_t gather(std::size_t number);
  static bool same_dims(const shape_description& a, const shape_description& b);
  [[nodiscard]] const shape_description& result(const group& g) const;
  [[nodiscard]] std::string marks(const group& g) const;

  void measure(std::size_t at, std::size_t depth);

  // The horizontal range of a group and all groups above it on each level, relative to its middle.
  struct outline {
    std::vector<double> left;
    std::vector<double> right;
  };
  // Places the groups above side by side, as close as their outlines permit.
  outline pack(std::size_t at);
  void place(std::size_t at, double middle);

  // Boxes of one depth have the same bottom, so that lines do not cross other boxes.
  [[nodiscard]] double top_of(const group& g, double top) const;

  void strands(canvas& c, const group& g, std::size_t i, const std::vector<double>& tops) const;
  void box(canvas& c, const group& g, double row) const;

  const std::vector<step_description>& steps_;
  dimension_colours colours_;
  std::vector<group> groups_{};
  std::vector<double> heights_{};
  std::size_t root_ = 0;
  double left_ = 0;
  double right_ = 0;
};

}  // namespace detail

namespace no_adl {

/// Draws the derivation of `x`. Does not evaluate x.
template <operand X>
[[nodiscard]] picture draw(const X& x) {
  const explanation e = explain(x);
  return detail::derivation_picture(e.derivation()).drawn(e.text());
}

}  // namespace no_adl

}  // namespace dimwise

DIMWISE_DETAIL_TEXT_END;

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/viz/pictures/derivation_definitions.hpp>
#endif

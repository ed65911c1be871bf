// SPDX-License-Identifier: BSL-1.0
// dimwise/viz/pictures/weights.hpp -- heat maps: draw_weights(x, labels…) for values, draw_mask(m, extents…) for masks.
//
// Layer: viz. Rows and columns are the last two dimensions; the other dimensions give one map per element. The
// intensity of a cell is its value relative to the largest of all; negative values have another colour, NaN and
// infinities a cross, and the legend counts them by kind. Cells of a mask are filled if visible and have a small ring
// if hidden.
// Tests: tests/viz/pictures.test.cpp
//
//   draw_weights(weights, labels<seq>(tokens), labels<key>(tokens)).save("weights.svg");
//   draw_mask(causal<seq, key>{}, seq{6}, key{6}).save("causal.svg");
#pragma once

#include <dimwise/support/library.hpp>
#include <dimwise/support/text_warning.hpp>
#include <dimwise/viz/picture.hpp>
#include <dimwise/viz/pictures/axis.hpp>
#include <dimwise/viz/print.hpp>

#include <string>
#include <vector>

DIMWISE_DETAIL_TEXT_BEGIN;

namespace dimwise {

namespace detail {

// Values with their dimensions, row-major.
struct charted_values {
  std::vector<printed_dimension> dims;
  std::vector<double> values;
  bool truth = false;
};

template <class T, class... D, class... L>
charted_values charted(const char* operation, const tensor<T, D...>& x, const labels<L>&... words) {
  const auto of = [&]<class... All>(list<All...>) {
    charted_values c{
        {{name_in_words<All>(), x.extents().template extent<All>(), words_for<All>(operation, x, words...)}...},
        {},
        std::is_same_v<T, bool>};
    c.values.reserve(x.size());
    for (const T& v : x.values()) { c.values.push_back(static_cast<double>(v)); }
    return c;
  };
  return of(dims_t<shape<D...>>{});
}

class heat_maps {
 public:
  explicit heat_maps(const charted_values& c);
  [[nodiscard]] picture drawn(const std::string& title) const;

 private:
  [[nodiscard]] std::size_t widest(std::size_t dim) const;
  [[nodiscard]] std::string corner() const;
  static std::string number(double v);

  void map(canvas& c, std::size_t m, double x, double y) const;
  // One element per cell, with the value as a tooltip and as text if there is room.
  void cells(canvas& c, const double* values, double x, double y) const;
  void cross(canvas& c, double x, double y) const;
  // Maps with many cells: one path for each of sixteen intensities, and one for NaN and infinities.
  void levels(canvas& c, const double* values, double x, double y) const;
  // The level of a value: `count` for zero, lower levels for negative and higher ones for positive values.
  [[nodiscard]] std::size_t level_of(double v, std::size_t count) const;
  void legend(canvas& c, double y) const;
  // The largest cell of the first rows of the first map, as an alternative description.
  [[nodiscard]] std::string description() const;

  const charted_values& c_;
  std::size_t rank_;
  std::size_t rows_;
  std::size_t columns_;
  std::size_t every_ = 1;
  bool turned_ = false;  // the words above the columns, which are wider than a column
  double most_ = 0;
  double cell_ = 0;
  double left_ = 0;
  double top_ = 0;
};

}  // namespace detail

namespace no_adl {

/// Draws heat maps: rows and columns are the last two dimensions, with optional labels.
template <operand X, class... D>
  requires(detail::has_labelled<X, D> && ...) && (detail::dims_t<detail::shape_of<X>>::size > 0)
[[nodiscard]] picture draw_weights(const X& x, const labels<D>&... words) {
  const detail::charted_values c = detail::charted("draw_weights", detail::stored_values(x), words...);
  return detail::heat_maps(c).drawn(describe(x));
}
template <operand X, class... D, class Error = detail::labels_of_another_tensor<X, D...>>
  requires(!(detail::has_labelled<X, D> && ...))
Error draw_weights(const X& x, const labels<D>&... words);

/// Draws the keys that each query sees under a mask. Pass extents as for `indicator`.
template <mask M, class... Extents>
[[nodiscard]] picture draw_mask(const M& m, const Extents&... extents) {
  const tensor shown = indicator(m, extents...);
  detail::charted_values c = detail::charted("draw_mask", shown);
  c.truth = true;
  return detail::heat_maps(c).drawn(detail::mask_in_words(m));
}

}  // namespace no_adl

}  // namespace dimwise

DIMWISE_DETAIL_TEXT_END;

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/viz/pictures/weights_definitions.hpp>
#endif

// SPDX-License-Identifier: BSL-1.0
// dimwise/viz/text/table.hpp -- tables of numbers labelled by dimensions, and a summary line.
//
// Layer: viz. Not templates: printing instantiates next to nothing for each tensor type.
// Tests: tests/viz/print.test.cpp
#pragma once

#include <dimwise/support/library.hpp>
#include <dimwise/support/text_warning.hpp>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

DIMWISE_DETAIL_TEXT_BEGIN;

namespace dimwise::detail {

// A dimension for printing, with a label or index for each element.
struct printed_dimension {
  std::string name;
  std::size_t extent;
  std::vector<std::string> words = {};
  [[nodiscard]] std::string word(std::size_t i) const;
};

// The label of the t-th table or map of the last two dimensions: "batch 0, heads 3", or the user's labels; empty if it
// is the only one.
DIMWISE_DETAIL_LIBRARY std::string place_in_words(const std::vector<printed_dimension>& dims, std::size_t t);

// A tensor for printing: its extents, the names of its dimensions, and its elements as numbers.
class printed_values {
 public:
  enum class kind : unsigned char { real, whole, id, truth };

  printed_values(kind k, std::vector<printed_dimension> dims) : kind_(k), dims_(std::move(dims)) {}
  virtual ~printed_values() = default;
  printed_values(const printed_values&) = delete;
  printed_values& operator=(const printed_values&) = delete;

  // A summary of all elements; NaN, infinities and negative infinities are counted one by one and excluded from the
  // rest. Integers have no mean: they are counts.
  [[nodiscard]] std::string facts() const;

  // A table of the last two dimensions for each index of the others.
  [[nodiscard]] std::string tables() const;

 private:
  static constexpr std::size_t gap = static_cast<std::size_t>(-1);
  struct style {
    bool scientific = false;
    int decimals = 0;
  };

  [[nodiscard]] virtual double at(std::size_t i) const = 0;
  [[nodiscard]] virtual long long whole_at(std::size_t i) const = 0;

  [[nodiscard]] std::size_t size() const;
  // The first and the last of `count` indices, with a gap between them if it hides more than one.
  static std::vector<std::size_t> places(std::size_t count, std::size_t half);
  // The number of decimal places that distinguishes all shown values.
  [[nodiscard]] style style_of(const std::vector<std::size_t>& shown) const;
  [[nodiscard]] std::string format(std::size_t i, style how) const;
  static std::string number(double v);
  static std::string padded(const std::string& s, std::size_t width);

  kind kind_;
  std::vector<printed_dimension> dims_;
};

}  // namespace dimwise::detail

DIMWISE_DETAIL_TEXT_END;

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/viz/text/table_definitions.hpp>
#endif

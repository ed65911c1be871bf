// src/programs/errors/error_shapes.hpp -- the shapes of a compile error, below one another, with the culprits marked.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/support/diagnostics.hpp>
#include <dimwise/support/messages/message.hpp>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace programs {

namespace messages = dimwise::detail::messages;

inline dimwise::detail::text text_of(std::string_view s) { return {s.data(), s.size()}; }

/// How many columns a text takes: its code points.
inline std::size_t width_of(std::string_view s) {
  return static_cast<std::size_t>(std::count_if(s.begin(), s.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

/// What the lists of dimensions are called that an error has beside its shapes, where that is not "named".
struct list_labels {
  const char* id;
  const char* first;
  const char* second;
};
inline constexpr list_labels labels_of_lists[] = {
    {"ERROR_R4_extent_does_not_divide", "divided", "named"},
    {"ERROR_R7_mask_has_dimensions_that_the_scores_lack", "mask", "named"},
    {"ERROR_R7_masks_serve_no_common_dimension", "first mask", "second"},
    {"ERROR_R7_mask_does_not_serve_this_dimension", "named", "mask"},
    {"ERROR_R15_run_time_extents_are_given_once", "needed", "given"},
    {"ERROR_R18_element_is_taken_by_one_id_of_each_dimension", "given", "named"},
    {"ERROR_R22_batches_are_added_as_averages", "given", "named"},
    {"ERROR_R22_gradient_belongs_to_another_model", "model", "gradient"}};
static_assert([] {
  for (const list_labels& one : labels_of_lists) {
    if (messages::find(messages::of(one.id)) == nullptr) { return false; }
  }
  return true;
}());

/// What stands in a column of a row. `lacking`: a culprit that this shape does not have.
enum class cell { present, lacking, absent };

/// The shapes as a table: equal dimensions share a column.
struct shape_grid {
  struct column {
    std::string name;
    bool is_culprit;
    bool is_mark;
  };
  struct row {
    std::string label;
    std::vector<cell> cells;
  };
  std::vector<column> columns;
  std::vector<row> rows;
};

/// An error's type, as a compiler prints it, with its message and its shapes. Both texts outlive it.
class error_type : public messages::facts<std::string> {
 public:
  /// `called`: what the program's line calls, where the type names no operation.
  error_type(std::string_view type, std::string_view called)
      : facts(text_of(type), text_of(called)), known_(messages::find(id())) {
    if (known_ == nullptr) { return; }
    for (int i = 0; i < known_->marked.count; ++i) { marked_.insert(known_->marked.items[i]); }
  }

  /// Its entry in the table, a null pointer for an error of another version of the library.
  [[nodiscard]] const messages::diagnostic* known() const { return known_; }
  [[nodiscard]] std::string name() const { return {id().begin, id().length}; }
  [[nodiscard]] std::string rule_name() const { return {rule().begin, rule().length}; }
  [[nodiscard]] std::string operation() {
    return operation_place < 0 ? ""
                               : std::string(parts[operation_place].word.begin, parts[operation_place].word.length);
  }

  /// The message, and whether it is one of the entry's patterns.
  [[nodiscard]] std::pair<std::string, bool> message() {
    const bool found = known_ != nullptr ? say_pattern(known_->seen) : say_pattern("{unknown}");
    return {words_said, found};
  }

  /// The dimensions that it names, those of its shapes, and what their marks name.
  [[nodiscard]] std::set<std::string> dimensions() {
    std::set<std::string> found = named(0);
    for (int i = 0; i < row_count; ++i) {
      for (int j = 0; j < shape_rows[i].items.size; ++j) {
        const int one = shape_rows[i].items.places[j];
        found.insert(shown(one));
        if (is_mark(one)) { add(found, arguments(one)); }
      }
    }
    return found;
  }

  [[nodiscard]] shape_grid grid() {
    const std::vector<labelled> rows = labelled_rows();
    // Shapes decide the order of the columns; what is named joins them.
    std::vector<item> columns;
    for (const bool shapes : {true, false}) {
      for (const labelled& row : rows) {
        if (is_shape(row.label) != shapes) { continue; }
        std::size_t place = 0;
        for (const item& one : row.items) {
          auto found = std::find(columns.begin(), columns.end(), one);
          if (found == columns.end()) {
            found = columns.insert(
                place > 0 || one.second < 0 ? columns.begin() + static_cast<std::ptrdiff_t>(place) : columns.end(),
                one);
          }
          place = static_cast<std::size_t>(found - columns.begin()) + 1;
        }
      }
    }
    std::set<item> no_dimensions, in_shapes;
    for (const labelled& row : rows) {
      if (is_shape(row.label)) { in_shapes.insert(row.items.begin(), row.items.end()); }
    }
    for (const labelled& row : rows) {
      for (const item& one : row.items) {
        const bool is_other = row.label == "given" && !in_shapes.contains(one);
        if (is_other || one.first == one_number) { no_dimensions.insert(one); }
      }
    }
    // Marks come after dimensions, and other types come last.
    const auto rank = [&](const item& one) {
      return (no_dimensions.contains(one) ? 2 : 0) + (names_mark(one.first) ? 1 : 0);
    };
    std::vector<item> ordered;
    for (const int wanted : {0, 1, 2, 3}) {
      std::copy_if(columns.begin(), columns.end(), std::back_inserter(ordered),
                   [&](const item& one) { return rank(one) == wanted; });
    }
    columns = std::move(ordered);
    const std::set<std::string> wrong = culprits_among(columns);
    const std::map<std::string, std::string> extents = shown_extents();
    shape_grid made;
    for (const item& one : columns) {
      const auto extent = extents.find(one.first);
      made.columns.push_back({extent == extents.end() ? one.first : one.first + "[" + extent->second + "]",
                              wrong.contains(one.first), names_mark(one.first)});
    }
    for (const labelled& row : rows) {
      shape_grid::row cells{row.label, {}};
      for (const item& one : columns) {
        const bool has = std::find(row.items.begin(), row.items.end(), one) != row.items.end();
        const bool may_lack = wrong.contains(one.first) && !no_dimensions.contains(one) && is_shape(row.label) &&
                              row.items.front().first != one_number;
        cells.cells.push_back(has ? cell::present : (may_lack ? cell::lacking : cell::absent));
      }
      made.rows.push_back(std::move(cells));
    }
    return made;
  }

 private:
  // A dimension, and its number among equal ones of its row; -1 where its place in the order is wrong.
  using item = std::pair<std::string, int>;
  struct labelled {
    std::string label;
    std::vector<item> items;
  };
  static constexpr const char* one_number = "one number";  // the shape without a dimension

  [[nodiscard]] std::string shown(int place) {
    words_said.clear();
    put_type(place);
    return words_said;
  }
  void add(std::set<std::string>& found, const messages::types& some) {
    for (int i = 0; i < some.size; ++i) { found.insert(shown(some.places[i])); }
  }
  // What the lists of dimensions name, from one of them on.
  [[nodiscard]] std::set<std::string> named(int first) {
    std::set<std::string> found;
    for (int i = first; i < over_count; ++i) { add(found, overs[i]); }
    return found;
  }
  [[nodiscard]] std::set<std::string> row_of(int row) {
    std::set<std::string> found;
    add(found, shape_rows[row].items);
    return found;
  }
  static bool is_shape(std::string_view label) {
    for (const char* one : {"left", "right", "operand", "declared", "expression", "shape", "tensor", "stored"}) {
      if (label == one) { return true; }
    }
    return false;
  }
  static bool names_mark(std::string_view shown) {
    return std::any_of(std::begin(messages::mark_names), std::end(messages::mark_names),
                       [&](std::string_view mark) { return shown.starts_with(std::string(mark) + "<"); });
  }
  std::map<std::string, std::string> shown_extents() {
    std::map<std::string, std::string> found;
    for (int i = 0; i < sized_dims.size; ++i) {
      const std::string dimension = shown(sized_dims.places[i]);
      found[dimension] = shown(sized_extents.places[i]);
    }
    return found;
  }

  // The rows of the table: what is named, then the shapes, then what else was given.
  std::vector<labelled> labelled_rows() {
    const auto* labels = std::find_if(std::begin(labels_of_lists), std::end(labels_of_lists),
                                      [&](const list_labels& one) { return name() == one.id; });
    std::vector<labelled> rows;
    const auto add_row = [&](const std::string& label, const messages::types& some) {
      labelled row{label, {}};
      for (int i = 0; i < some.size; ++i) {
        const std::string one = shown(some.places[i]);
        const auto equal_ones =
            std::count_if(row.items.begin(), row.items.end(), [&](const item& other) { return other.first == one; });
        row.items.emplace_back(one, static_cast<int>(equal_ones));
      }
      if (row.items.empty() && is_shape(label)) { row.items.emplace_back(one_number, 0); }
      if (!row.items.empty()) { rows.push_back(std::move(row)); }
    };
    for (int i = 0; i < over_count; ++i) {
      add_row(labels == std::end(labels_of_lists) || i > 1 ? "named" : (i == 0 ? labels->first : labels->second),
              overs[i]);
    }
    for (int i = 0; i < row_count; ++i) { add_row(shape_rows[i].label, shape_rows[i].items); }
    const bool is_missing = is(0, "ERROR_R1_argument_is_missing");
    if (marked_.contains(messages::culprit::types)) { add_row(is_missing ? "missing" : "given", other_facts); }
    mark_order(rows);
    return rows;
  }

  // Two shapes that differ in the order alone: what is at another place in the second has a column of its own.
  void mark_order(std::vector<labelled>& rows) {
    std::vector<std::vector<item>*> shapes;
    for (labelled& row : rows) {
      if (is_shape(row.label)) { shapes.push_back(&row.items); }
    }
    if (shapes.size() != 2 || row_count < 2) { return; }
    const std::string_view second = shape_rows[1].label;
    if (second != "expression" && second != "tensor" && second != "stored") { return; }
    std::vector<item> sorted[] = {*shapes[0], *shapes[1]};
    for (auto& one : sorted) { std::sort(one.begin(), one.end()); }
    if (sorted[0] != sorted[1]) { return; }
    std::vector<bool> kept(shapes[1]->size(), false);
    keep_equal(*shapes[0], *shapes[1], {0, shapes[0]->size()}, {0, shapes[1]->size()}, kept);
    for (std::size_t i = 0; i < kept.size(); ++i) {
      if (!kept[i]) { (*shapes[1])[i].second = -1; }
    }
  }
  // The longest run that both have, and those before it and after it.
  using range = std::pair<std::size_t, std::size_t>;
  static void keep_equal(const std::vector<item>& a, const std::vector<item>& b, range in_a, range in_b,
                         std::vector<bool>& kept) {
    std::size_t best = 0, at_a = 0, at_b = 0;
    for (std::size_t i = in_a.first; i < in_a.second; ++i) {
      for (std::size_t j = in_b.first; j < in_b.second; ++j) {
        std::size_t n = 0;
        while (i + n < in_a.second && j + n < in_b.second && a[i + n] == b[j + n]) { ++n; }
        if (n > best) { best = n, at_a = i, at_b = j; }
      }
    }
    if (best == 0) { return; }
    for (std::size_t n = 0; n < best; ++n) { kept[at_b + n] = true; }
    keep_equal(a, b, {in_a.first, at_a}, {in_b.first, at_b}, kept);
    keep_equal(a, b, {at_a + best, in_a.second}, {at_b + best, in_b.second}, kept);
  }

  // Culprits that have a column; where nothing is one by itself, what is at another place, or everything.
  std::set<std::string> culprits_among(const std::vector<item>& columns) {
    std::set<std::string> names, moved, wrong;
    for (const item& one : columns) {
      names.insert(one.first);
      if (one.second < 0) { moved.insert(one.first); }
    }
    for (const std::string& one : culprits()) {
      if (names.contains(one)) { wrong.insert(one); }
    }
    return !wrong.empty() ? wrong : (!moved.empty() ? moved : names);
  }
  std::set<std::string> culprits() {
    std::set<std::string> found;
    if (known_ == nullptr) { return named(0); }
    for (const messages::culprit kind : marked_) { found.merge(culprits_of(kind)); }
    return found;
  }
  std::set<std::string> culprits_of(messages::culprit kind) {
    using enum messages::culprit;
    std::set<std::string> found, all_dimensions;
    for (int i = 0; i < row_count; ++i) { all_dimensions.merge(row_of(i)); }
    const auto keep = [&](const std::set<std::string>& some, const auto& is_wanted) {
      std::copy_if(some.begin(), some.end(), std::inserter(found, found.end()), is_wanted);
    };
    switch (kind) {
      case over:
        return named(0);
      case lacking: {
        const auto over_all = named(0);
        keep(over_all, [&](const std::string& one) {
          for (int i = 0; i < row_count; ++i) {
            if (!row_of(i).contains(one)) { return true; }
          }
          return false;
        });
        return found.empty() ? over_all : found;
      }
      case differing:
        add(found, only(0, false)), add(found, only(1, false));
        return found;
      case composites:
        keep(all_dimensions,
             [](const std::string& one) { return one.starts_with("merged<") || one.starts_with("summed<"); });
        return found;
      case missing:
        keep(named(0), [&](const std::string& one) { return !all_dimensions.contains(one); });
        return found;
      case given:
        return named(1);
      case not_given:
        if (over_count > 1) { add(found, without(overs[0], overs[1])); }
        return found.empty() ? named(1) : found;
      case twice:
        for (int i = 0; i < row_count; ++i) {
          std::set<std::string> seen;
          for (int j = 0; j < shape_rows[i].items.size; ++j) {
            if (const auto one = shown(shape_rows[i].items.places[j]); !seen.insert(one).second) { found.insert(one); }
          }
        }
        return found;
      case types:
        add(found, other_facts);
        return found;
      case right:
        if (const messages::types* row = find({"right"})) { add(found, *row); }
        return found;
      case free: {
        std::set<std::string> sides;
        add(sides, only(0)), add(sides, only(1));
        keep(sides, [](const std::string& one) { return one.find('<') == std::string::npos; });
        return found;
      }
      case all:
        return all_dimensions;
      case raw:
      case score:
      case masked_for:
      case biased_for:
      case normalised:
      case weighted:
      case log_normalised:
      case rotated:
      case indexed:
      case partial: {
        const std::string mark =
            messages::mark_names[static_cast<int>(kind) - static_cast<int>(raw)] + std::string("<");
        keep(all_dimensions, [&](const std::string& one) { return one.starts_with(mark); });
        return found;
      }
    }
    return found;
  }

  const messages::diagnostic* known_;
  std::set<messages::culprit> marked_{};
};

}  // namespace programs

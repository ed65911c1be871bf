// SPDX-License-Identifier: BSL-1.0
// dimwise/support/messages/error_parts.hpp -- what the type of an error holds: an operation, dimensions, shapes, marks.
//
// Layer: support. support/messages/message.hpp says it in words.
// Tests: tests/support/diagnostics.test.cpp, tests/messages/translated.py
#pragma once

#include <dimwise/support/messages/diagnostic.hpp>
#include <dimwise/support/messages/printed_type.hpp>

#include <initializer_list>

namespace dimwise::detail::messages {

// Words for the names of operations and of shapes.
struct pair {
  const char* name;
  const char* said;
};
inline constexpr pair operations[] = {{"elementwise", "arithmetic"}, {"assign", "the assignment"},
                                      {"divide", "the division"},    {"compare", "the comparison"},
                                      {"mask_and", "`&` of masks"},  {"mask_or", "`|` of masks"}};
inline constexpr pair shapes[] = {{"lhs", "left"},
                                  {"rhs", "right"},
                                  {"operand_shape", "operand"},
                                  {"declared", "declared"},
                                  {"computed", "expression"}};

template <std::size_t N>
constexpr const char* said_of(const pair (&table)[N], text name) {
  for (const pair& one : table) {
    if (same(name, one.name)) { return one.said; }
  }
  return nullptr;
}

struct row {
  const char* label = "";
  types items{};
};
// The parts of an error's type, sorted: its operation, lists of dimensions, shapes and marks.
template <class Message>
class error_parts : protected printed_type<Message> {
 public:
  constexpr explicit error_parts(text error) : printed_type<Message>(error) {
    for (int one = parts[0].first; one >= 0; one = parts[one].next) { sort(one); }
    if (is(0, "ERROR_R4_extent_does_not_divide")) {
      while (over_count > 1) { overs[0].add(overs[--over_count].places[0]); }
    }
    for (int i = 0; i < other_facts.size && row_count > 0; ++i) {
      if (is(other_facts.places[i], "stored")) { add_row("stored", other_facts.places[i]); }
    }
  }

  // How many facts the type says.
  [[nodiscard]] constexpr int fact_count() const { return parts[0].count; }

  // The error's id: the name of its type.
  [[nodiscard]] constexpr text id() const { return parts[0].word; }

 protected:
  using base = printed_type<Message>;
  using base::arguments, base::equal, base::is, base::parts;

  // "R7" of ERROR_R7_…
  [[nodiscard]] constexpr text rule() const {
    text name = behind(parts[0].word, of("ERROR_").length);
    std::size_t length = 0;
    while (length < name.length && name.begin[length] != '_') { ++length; }
    return {name.begin, length};
  }

  constexpr bool is_mark(int place) const {
    for (const char* mark : mark_names) {
      if (is(place, mark)) { return parts[place].of_library; }
    }
    return false;
  }

  static constexpr int most = 16;  // shapes of an error, and its lists of dimensions

  constexpr void add_row(const char* label, int place) {
    if (row_count < most) { shape_rows[row_count++] = {label, arguments(place)}; }
  }
  constexpr void sort(int one) {
    const char* label = said_of(shapes, parts[one].word);
    if (parts[one].is_operation && operation_place < 0) {
      operation_place = one;
    } else if ((is(one, "over") || is(one, "about")) && over_count < most) {
      types& over = overs[over_count++];
      if (is(one, "about")) { over.add(dimension(one)); }
      for (int dim = is(one, "over") ? parts[one].first : -1; dim >= 0; dim = parts[dim].next) {
        over.add(dimension(dim));
      }
    } else if (label != nullptr) {
      add_row(label, one);
    } else if (is(one, "shape")) {
      add_row(row_count == 0 ? "shape" : "tensor", one);
    } else if (is(one, "id") && parts[one].count > 0) {
      id_facts.add(parts[one].first);
    } else {
      other_facts.add(one);
    }
  }
  constexpr int dimension(int one) {
    if (!is(one, "about") || parts[one].count != 2) { return one; }
    const int dim = parts[one].first;
    const int extent = parts[dim].next;
    if (is(extent, "extent") && parts[extent].count > 0) {
      sized_dims.add(dim), sized_extents.add(parts[extent].first);
    }
    return dim;
  }

  // The shape of one of these labels; none is a null pointer, here and below.
  constexpr const types* find(std::initializer_list<const char*> labels) const {
    for (int i = 0; i < row_count; ++i) {
      for (const char* label : labels) {
        if (same(of(shape_rows[i].label), label)) { return &shape_rows[i].items; }
      }
    }
    return nullptr;
  }
  constexpr bool has(const types& some, int one) const {
    for (int i = 0; i < some.size; ++i) {
      if (equal(some.places[i], one)) { return true; }
    }
    return false;
  }
  // The entries that only the first has.
  constexpr types without(const types& some, const types& others) const {
    types found;
    for (int i = 0; i < some.size; ++i) {
      if (!has(others, some.places[i])) { found.add(some.places[i]); }
    }
    return found;
  }
  constexpr types dims(const types& some) const {
    types found;
    for (int i = 0; i < some.size; ++i) {
      if (!is_mark(some.places[i])) { found.add(some.places[i]); }
    }
    return found;
  }
  // The entries of one side alone; without marks unless dimensions differ as well.
  constexpr types only(int side, bool marks = true) const {
    if (row_count < 2) { return {}; }
    const types sides[] = {without(shape_rows[0].items, shape_rows[1].items),
                           without(shape_rows[1].items, shape_rows[0].items)};
    const types of_dims[] = {dims(sides[0]), dims(sides[1])};
    return marks || of_dims[0].size + of_dims[1].size == 0 ? sides[side] : of_dims[side];
  }
  constexpr const types* over(int which = 0) const {
    for (int i = which; i < over_count; ++i) {
      if (which > 0 || overs[i].size > 0) { return &overs[i]; }
    }
    return nullptr;
  }

  constexpr types plain(const types& some) const {  // neither composites nor marks, nor what is named
    types found;
    for (int i = 0; i < some.size; ++i) {
      const int one = some.places[i];
      if (parts[one].count == 0 && (over() == nullptr || !has(*over(), one))) { found.add(one); }
    }
    return found;
  }

  constexpr int marked(const types& some, const char* mark) const {
    for (int i = 0; i < some.size; ++i) {
      if (is(some.places[i], mark) && is_mark(some.places[i])) { return some.places[i]; }
    }
    return -1;
  }
  constexpr int marked(const char* mark) const {
    for (int i = 0; i < row_count; ++i) {
      if (const int one = marked(shape_rows[i].items, mark); one >= 0) { return one; }
    }
    return -1;
  }

  int operation_place = -1;
  types overs[most]{};
  int over_count = 0;
  row shape_rows[most]{};
  int row_count = 0;
  types other_facts{}, id_facts{}, sized_dims{}, sized_extents{};  // of sized_dims the extents are known
};

}  // namespace dimwise::detail::messages

// SPDX-License-Identifier: BSL-1.0
// dimwise/expr/explain_words.hpp -- shapes in words: dimensions with their extents, marks, and why a mark comes and
// goes.
//
// Layer: expr. Ordinary code over strings, so that `explain` instantiates next to nothing for each node.
// Tests: tests/viz/explain.test.cpp
#pragma once

#include <dimwise/tensor/operand.hpp>

#include <cstdio>
#include <string>
#include <vector>

namespace dimwise::detail {

inline std::string short_name(text name) {
  std::string all;
  say_name(name, [&all](char c) { all += c; });
  return all;
}

template <class D>
std::string name_in_words() {
  return short_name(dimension_name<D>());
}

struct dim_words {
  std::string name;
  ability abilities;
  extent_t extent;
  std::ptrdiff_t origin;
};
struct mark_words {
  int kind;          // mark_order
  std::string dims;  // "d_k", or "a, b"
  std::string name;  // "raw<d_k>"
};
struct shape_words {
  std::vector<dim_words> dims;
  std::vector<mark_words> marks;
  std::size_t element_bytes = 0;
};
// The memory that the elements would take.
inline std::size_t bytes_of(const shape_words& s) {
  std::size_t n = s.element_bytes;
  for (const dim_words& d : s.dims) { n *= d.extent; }
  return n;
}

inline std::string joined_names(const std::vector<std::string>& names, const char* between = ", ") {
  std::string all;
  for (const std::string& n : names) {
    if (!all.empty()) { all += between; }
    all += n;
  }
  return all;
}

inline std::string in_words(const shape_words& s) {
  std::string all;
  for (const dim_words& d : s.dims) {
    if (!all.empty()) { all += ' '; }
    all += d.name + '[' + std::to_string(d.extent);
    if (has_any(d.abilities, ability::ordered) && d.origin != unsaid_origin && d.origin != disputed_origin &&
        d.origin != 0) {
      all += " from position " + std::to_string(d.origin);
    }
    all += ']';
  }
  if (s.dims.empty()) { all = "one number"; }
  for (const mark_words& m : s.marks) { all += ", " + m.name; }
  return all;
}

template <class D, class Extents>
std::ptrdiff_t said_origin(const Extents& e) {
  if constexpr (is_in<D, typename Extents::atoms>) {
    return e.template of_atom<D>().origin;
  } else {
    return unsaid_origin;
  }
}

template <class List>
struct names_in_list;
template <class... T>
struct names_in_list<list<T...>> {
  static std::vector<std::string> get() { return {name_in_words<T>()...}; }
  template <class Extents>
  static std::vector<dim_words> dims(const Extents& e) {
    (void)e;
    return {dim_words{name_in_words<T>(), T::abilities, e.template extent<T>(), said_origin<T>(e)}...};
  }
  static std::vector<mark_words> marks() {
    return {mark_words{mark_order<T>, joined_names(names_in_list<mark_dims_t<T>>::get()), name_in_words<T>()}...};
  }
};

// The bytes of an element; what is tracked is stored as its value is.
template <class T>
inline constexpr std::size_t element_bytes = sizeof(T);
template <class T>
  requires requires { typename T::value_type; } && (!std::is_default_constructible_v<T>)
inline constexpr std::size_t element_bytes<T> = sizeof(typename T::value_type);

template <class X>
shape_words shape_in_words(const X& x) {
  return {names_in_list<dims_t<shape_of<X>>>::dims(x.extents()), names_in_list<marks_t<shape_of<X>>>::marks(),
          element_bytes<value_of<X>>};
}

inline bool has_name(const std::vector<dim_words>& dims, const std::string& name) {
  for (const dim_words& d : dims) {
    if (d.name == name) { return true; }
  }
  return false;
}
inline bool has_mark(const std::vector<mark_words>& marks, const std::string& name) {
  for (const mark_words& m : marks) {
    if (m.name == name) { return true; }
  }
  return false;
}
inline std::string short_number(double x) {
  char digits[32];
  std::snprintf(digits, sizeof(digits), "%.4g", x);
  return digits;
}

// An operand that was already explained: "step 3", or "the number 0.25".
struct said {
  std::string reference;
  shape_words shape;
  std::size_t step = 0;  // its number; 0 for what is no step
};

// The dimensions of `a` that `b` lacks and that are not summed over; only those with one of `wanted`.
inline std::string free_names(const shape_words& a, const shape_words& b, const std::vector<std::string>& over,
                              ability wanted = static_cast<ability>(~0U)) {
  std::vector<std::string> names;
  for (const dim_words& d : a.dims) {
    bool summed = has_name(b.dims, d.name);
    for (const std::string& o : over) { summed = summed || o == d.name; }
    if (!summed && has_any(d.abilities, wanted)) { names.push_back(d.name); }
  }
  return joined_names(names);
}
inline std::string shared_names(const shape_words& a, const shape_words& b, const std::vector<std::string>& over) {
  std::vector<std::string> names;
  for (const dim_words& d : a.dims) {
    bool summed = false;
    for (const std::string& o : over) { summed = summed || o == d.name; }
    if (!summed && has_name(b.dims, d.name)) { names.push_back(d.name); }
  }
  return joined_names(names);
}

// One step: what is done to which operands, what comes out, and why marks came and went.
struct step_words {
  std::string operation;
  std::vector<std::string> over;
  std::vector<said> operands;
  shape_words result;
  std::string note = {};                  // what else it takes: a mask, a scale
  std::string what = {};                  // the operation in words
  std::vector<std::string> reasons = {};  // "raw<d_k>: free positions on both sides …"
};

inline bool is_product_step(const step_words& s) {
  return s.operation == "contract" || s.operation == "scores" || s.operation == "outer";
}
// Of a product: one for each element of the result and each term of its sum.
inline std::size_t multiply_adds(const step_words& s) {
  if (!is_product_step(s)) { return 0; }
  std::size_t n = 1;
  for (const dim_words& d : s.result.dims) { n *= d.extent; }
  for (const std::string& o : s.over) {
    for (const dim_words& d : s.operands[0].shape.dims) { n *= d.name == o ? d.extent : 1; }
  }
  return n;
}

inline std::string why_raw(const step_words& s) {
  std::string sides = "positions";
  if (s.operands.size() == 2) {
    std::string left = free_names(s.operands[0].shape, s.operands[1].shape, s.over, position_ability);
    std::string right = free_names(s.operands[1].shape, s.operands[0].shape, s.over, position_ability);
    for (int i = 0; i < 2; ++i) {
      std::string& side = i == 0 ? left : right;
      if (!side.empty()) { continue; }
      for (const mark_words& m : s.operands[static_cast<std::size_t>(i)].shape.marks) {
        if (m.kind == mark_order<indexed<>>) { side = "one of " + m.dims; }
      }
    }
    if (left.empty() || right.empty()) {
      sides = "parallel dimensions";
      left = free_names(s.operands[0].shape, s.operands[1].shape, s.over);
      right = free_names(s.operands[1].shape, s.operands[0].shape, s.over);
    }
    sides += " on both sides (" + left + "; " + right + ")";
  }
  return "free " + sides + " and no feature left; scale it before softmax";
}

inline std::string why_set(const mark_words& m, const step_words& s) {
  switch (m.kind) {
    case mark_order<raw<>>:
      return why_raw(s);
    case mark_order<score<>>:
      return s.operation == "unscaled" ? "taken as scores without a scale, visibly"
                                       : "the products over " + m.dims + " are scaled now; nothing is scaled twice";
    case mark_order<masked_for<>>:
      return "the next softmax or reduction goes over " + m.dims + ", which ends it";
    case mark_order<biased_for<>>:
      return "what was added varies along " + m.dims + "; no softmax over another dimension sees it";
    case mark_order<normalised<>>:
      return "sums to one over " + m.dims;
    case mark_order<weighted<>>:
      return "no longer sums to one over " + m.dims + "; it may only be summed over " + m.dims;
    case mark_order<rotated<>>:
      return m.dims + " carries positions now; queries and keys must agree";
    case mark_order<indexed<>>:
      return "one element of " + m.dims + " was taken; it meets a tensor that has " + m.dims +
             " only through broadcast";
    default:
      return "set by " + s.operation;
  }
}

inline std::string why_ended(const mark_words& m, const step_words& s) {
  if (s.operation == "plain") { return "dropped visibly"; }
  bool goes_over_it = false;
  for (const std::string& o : s.over) { goes_over_it = goes_over_it || m.dims.find(o) != std::string::npos; }
  const bool product = is_product_step(s);
  switch (m.kind) {
    case mark_order<raw<>>:
      return "scaled, or declared unscaled";
    case mark_order<masked_for<>>:
      return s.operation + " counts what is masked as nothing";
    case mark_order<normalised<>>:
    case mark_order<weighted<>>:
      if (goes_over_it) { return "the weights are used up: " + m.dims + " is summed over"; }
      return product ? "heads were mixed, and a mixture sums to something else" : "taken by " + s.operation;
    case mark_order<indexed<>>:
      return product ? "a product is no element of " + m.dims + " any more" : "taken by " + s.operation;
    case mark_order<rotated<>>:
      return goes_over_it ? "both sides were rotated alike, and " + m.dims + " is summed over"
                          : "taken by " + s.operation;
    default:
      return "taken by " + s.operation;
  }
}

// The steps, in the order in which they are formed.
class derivation {
 public:
  said add(const std::string& what, step_words step) {
    step.what = what;
    for (const mark_words& m : step.result.marks) {
      bool new_here = !step.operands.empty();
      for (const said& o : step.operands) { new_here = new_here && !has_mark(o.shape.marks, m.name); }
      if (new_here) { step.reasons.push_back(m.name + ": " + why_set(m, step)); }
    }
    std::vector<mark_words> ended;
    for (const said& o : step.operands) {
      for (const mark_words& m : o.shape.marks) {
        // A mark whose dimension got another name, or that became another mark, was described above.
        if (has_mark(step.result.marks, m.name) || has_mark(ended, m.name) || replaced(m, step)) { continue; }
        ended.push_back(m);
        step.reasons.push_back(m.name + " ends: " + why_ended(m, step));
      }
    }
    steps_.push_back(static_cast<step_words&&>(step));
    return {"step " + std::to_string(steps_.size()), steps_.back().result, steps_.size()};
  }
  [[nodiscard]] const std::vector<step_words>& steps() const { return steps_; }

 private:
  static bool replaced(const mark_words& m, const step_words& s) {
    if (s.operation == "rename" || s.operation == "relabel") { return true; }
    for (const mark_words& r : s.result.marks) {
      if (m.dims == r.dims && ((m.kind == mark_order<raw<>> && r.kind == mark_order<score<>>) ||
                               (m.kind == mark_order<normalised<>> && r.kind == mark_order<weighted<>>))) {
        return true;
      }
    }
    return false;
  }

  std::vector<step_words> steps_;
};

}  // namespace dimwise::detail

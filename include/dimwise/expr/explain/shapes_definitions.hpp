// SPDX-License-Identifier: BSL-1.0
// dimwise/expr/explain/shapes_definitions.hpp -- shapes and steps in words; why a mark comes and goes.
//
// Layer: expr. Compiled once where a program links the library (support/library.hpp).
// Tests: tests/viz/explain.test.cpp
#pragma once

#include <dimwise/expr/explain/shapes.hpp>

#include <cstdio>

namespace dimwise::detail {

DIMWISE_DETAIL_LIBRARY std::string short_name(text name) {
  std::string all;
  say_name(name, [&all](char c) { all += c; });
  return all;
}

DIMWISE_DETAIL_LIBRARY std::size_t bytes_of(const shape_description& s) {
  std::size_t n = s.element_bytes;
  for (const dim_description& d : s.dims) { n *= d.extent; }
  return n;
}

DIMWISE_DETAIL_LIBRARY std::string joined_names(const std::vector<std::string>& names, const char* between) {
  std::string all;
  for (const std::string& n : names) {
    if (!all.empty()) { all += between; }
    all += n;
  }
  return all;
}

DIMWISE_DETAIL_LIBRARY std::string in_words(const shape_description& s) {
  std::string all;
  for (const dim_description& d : s.dims) {
    if (!all.empty()) { all += ' '; }
    all += d.name + '[' + std::to_string(d.extent);
    if (has_any(d.abilities, ability::ordered) && d.origin != unknown_origin && d.origin != disputed_origin &&
        d.origin != 0) {
      all += " from position " + std::to_string(d.origin);
    }
    all += ']';
  }
  if (s.dims.empty()) { all = "one number"; }
  for (const mark_description& m : s.marks) { all += ", " + m.name; }
  return all;
}

DIMWISE_DETAIL_LIBRARY bool has_name(const std::vector<dim_description>& dims, const std::string& name) {
  for (const dim_description& d : dims) {
    if (d.name == name) { return true; }
  }
  return false;
}

DIMWISE_DETAIL_LIBRARY bool has_mark(const std::vector<mark_description>& marks, const std::string& name) {
  for (const mark_description& m : marks) {
    if (m.name == name) { return true; }
  }
  return false;
}

DIMWISE_DETAIL_LIBRARY std::string short_number(double x) {
  char digits[32];
  std::snprintf(digits, sizeof(digits), "%.4g", x);
  return digits;
}

DIMWISE_DETAIL_LIBRARY std::string references(const std::vector<said>& operands, const char* between) {
  std::vector<std::string> names;
  for (const said& one : operands) { names.push_back(one.reference); }
  return joined_names(names, between);
}

DIMWISE_DETAIL_LIBRARY std::string free_names(const shape_description& a, const shape_description& b,
                                              const std::vector<std::string>& over, ability wanted) {
  std::vector<std::string> names;
  for (const dim_description& d : a.dims) {
    bool summed = has_name(b.dims, d.name);
    for (const std::string& o : over) { summed = summed || o == d.name; }
    if (!summed && has_any(d.abilities, wanted)) { names.push_back(d.name); }
  }
  return joined_names(names);
}

DIMWISE_DETAIL_LIBRARY std::string shared_names(const shape_description& a, const shape_description& b,
                                                const std::vector<std::string>& over) {
  std::vector<std::string> names;
  for (const dim_description& d : a.dims) {
    bool summed = false;
    for (const std::string& o : over) { summed = summed || o == d.name; }
    if (!summed && has_name(b.dims, d.name)) { names.push_back(d.name); }
  }
  return joined_names(names);
}

DIMWISE_DETAIL_LIBRARY std::size_t multiply_adds(const step_description& s) {
  if (!is_product_step(s)) { return 0; }
  std::size_t n = 1;
  for (const dim_description& d : s.result.dims) { n *= d.extent; }
  for (const std::string& o : s.over) {
    for (const dim_description& d : s.operands[0].shape.dims) { n *= d.name == o ? d.extent : 1; }
  }
  return n;
}

DIMWISE_DETAIL_LIBRARY std::string why_raw(const step_description& s) {
  std::string sides = "positions";
  if (s.operands.size() == 2) {
    std::string left = free_names(s.operands[0].shape, s.operands[1].shape, s.over, position_ability);
    std::string right = free_names(s.operands[1].shape, s.operands[0].shape, s.over, position_ability);
    for (int i = 0; i < 2; ++i) {
      std::string& side = i == 0 ? left : right;
      if (!side.empty()) { continue; }
      for (const mark_description& m : s.operands[static_cast<std::size_t>(i)].shape.marks) {
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

DIMWISE_DETAIL_LIBRARY std::string why_set(const mark_description& m, const step_description& s) {
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
    case mark_order<log_normalised<>>:
      return "the logarithm of what sums to one over " + m.dims;
    case mark_order<weighted<>>:
      return "no longer sums to one over " + m.dims + "; it may only be summed over " + m.dims;
    case mark_order<rotated<>>:
      return m.dims + " carries positions now; queries and keys must agree";
    case mark_order<indexed<>>:
      return "one element of " + m.dims + " was taken; it meets a tensor that has " + m.dims +
             " only through broadcast";
    case mark_order<partial<>>:
      return "each rank along " + m.dims + " has one term of the sum; a reduction along " + m.dims + " adds them";
    default:
      return "set by " + s.operation;
  }
}

DIMWISE_DETAIL_LIBRARY std::string why_ended(const mark_description& m, const step_description& s) {
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
    case mark_order<log_normalised<>>:
      return s.operation + " leaves no logarithm of what sums to one over " + m.dims;
    case mark_order<indexed<>>:
      return product ? "a product is no element of " + m.dims + " any more" : "taken by " + s.operation;
    case mark_order<rotated<>>:
      return goes_over_it ? "both sides were rotated alike, and " + m.dims + " is summed over"
                          : "taken by " + s.operation;
    default:
      return "taken by " + s.operation;
  }
}

DIMWISE_DETAIL_LIBRARY said derivation::add(const std::string& what, step_description step) {
  step.what = what;
  for (const mark_description& m : step.result.marks) {
    bool new_here = !step.operands.empty();
    for (const said& o : step.operands) { new_here = new_here && !has_mark(o.shape.marks, m.name); }
    if (new_here) { step.reasons.push_back(m.name + ": " + why_set(m, step)); }
  }
  std::vector<mark_description> ended;
  for (const said& o : step.operands) {
    for (const mark_description& m : o.shape.marks) {
      // A mark whose dimension got another name, or that became another mark, was described above.
      if (has_mark(step.result.marks, m.name) || has_mark(ended, m.name) || replaced(m, step)) { continue; }
      ended.push_back(m);
      step.reasons.push_back(m.name + " ends: " + why_ended(m, step));
    }
  }
  steps_.push_back(static_cast<step_description&&>(step));
  return {"step " + std::to_string(steps_.size()), steps_.back().result, steps_.size()};
}

DIMWISE_DETAIL_LIBRARY bool derivation::replaced(const mark_description& m, const step_description& s) {
  if (s.operation == "rename" || s.operation == "relabel") { return true; }
  for (const mark_description& r : s.result.marks) {
    if (m.dims == r.dims && ((m.kind == mark_order<raw<>> && r.kind == mark_order<score<>>) ||
                             (m.kind == mark_order<normalised<>> && r.kind == mark_order<weighted<>>) ||
                             (m.kind == mark_order<normalised<>> && r.kind == mark_order<log_normalised<>>) ||
                             (m.kind == mark_order<log_normalised<>> && r.kind == mark_order<normalised<>>))) {
      return true;
    }
  }
  return false;
}

DIMWISE_DETAIL_LIBRARY std::string angle(const std::string& operation, const std::vector<std::string>& over) {
  return operation + "<" + joined_names(over) + ">";
}

DIMWISE_DETAIL_LIBRARY std::string product_in_words(const std::string& operation, const step_description& s) {
  const said& a = s.operands[0];
  const said& b = s.operands[1];
  std::string what =
      (s.over.empty() ? operation : angle(operation, s.over)) + " of " + a.reference + " and " + b.reference;
  if (!s.over.empty()) { what += ": sums over " + joined_names(s.over); }
  const std::string shared = shared_names(a.shape, b.shape, s.over);
  const std::string left = free_names(a.shape, b.shape, s.over);
  const std::string right = free_names(b.shape, a.shape, s.over);
  if (!shared.empty()) { what += "; side by side: " + shared; }
  if (!left.empty()) { what += "; free on the left: " + left; }
  if (!right.empty()) { what += "; free on the right: " + right; }
  for (const dim_description& d : s.result.dims) {
    const std::string output = "out<" + d.name + ">";
    if (has_name(a.shape.dims, output) || has_name(b.shape.dims, output)) {
      what += "; " + output + " takes the place of " + d.name;
    }
  }
  return what;
}

DIMWISE_DETAIL_LIBRARY std::string repeated_in_words(const step_description& s) {
  std::string all;
  for (const said& o : s.operands) {
    if (o.shape.dims.empty()) { continue; }
    const std::string lacks = free_names(s.result, o.shape, {});
    if (!lacks.empty()) { all += "; " + o.reference + " is the same for every " + lacks; }
  }
  return all;
}

DIMWISE_DETAIL_LIBRARY const said* derivation::words_of_formula(std::uint64_t number) const {
  for (const auto& [known, words] : formulas_) {
    if (known == number) { return &words; }
  }
  return nullptr;
}
DIMWISE_DETAIL_LIBRARY void derivation::keep_words(std::uint64_t number, const said& words) {
  formulas_.emplace_back(number, words);
}

}  // namespace dimwise::detail

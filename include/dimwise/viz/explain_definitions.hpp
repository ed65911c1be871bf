// SPDX-License-Identifier: BSL-1.0
// dimwise/viz/explain_definitions.hpp -- explanations as text, Markdown and JSON.
//
// Layer: viz. Compiled once if a program links the library (support/library.hpp).
// Tests: tests/viz/explain.test.cpp
#pragma once

#include <dimwise/viz/explain.hpp>
#include <dimwise/viz/text/words.hpp>

DIMWISE_DETAIL_TEXT_BEGIN;

namespace dimwise {

namespace detail {

DIMWISE_DETAIL_LIBRARY step_changes::step_changes(const step_description& s) {
  if (s.operands.empty()) { return; }
  const auto held = [&](const std::string& name) {
    for (const said& o : s.operands) {
      if (has_name(o.shape.dims, name)) { return true; }
    }
    return false;
  };
  for (const dim_description& d : s.result.dims) {
    if (!held(d.name)) { appear.push_back(d.name); }
  }
  for (const said& o : s.operands) {
    for (const dim_description& d : o.shape.dims) {
      if (!has_name(s.result.dims, d.name) && !listed(vanish, d.name)) { vanish.push_back(d.name); }
    }
  }
  if ((s.operation == "rename" || s.operation == "relabel") && appear.size() == vanish.size()) {
    for (std::size_t i = 0; i < appear.size(); ++i) { renamed.emplace_back(vanish[i], appear[i]); }
    appear.clear();
    vanish.clear();
  }
}

DIMWISE_DETAIL_LIBRARY std::string step_changes::words() const {
  std::string all;
  const auto say = [&](const std::string& s) { all += (all.empty() ? "" : "; ") + s; };
  if (!appear.empty()) { say(joined_names(appear) + (appear.size() == 1 ? " appears" : " appear")); }
  if (!vanish.empty()) { say(joined_names(vanish) + (vanish.size() == 1 ? " vanishes" : " vanish")); }
  for (const auto& [from, to] : renamed) { say(from + " becomes " + to); }
  return all;
}

DIMWISE_DETAIL_LIBRARY bool step_changes::listed(const std::vector<std::string>& names, const std::string& name) {
  for (const std::string& n : names) {
    if (n == name) { return true; }
  }
  return false;
}

DIMWISE_DETAIL_LIBRARY std::string grouped(std::size_t n) {
  std::string s = std::to_string(n);
  for (std::size_t i = s.size(); i > 3; i -= 3) { s.insert(i - 3, " "); }
  return s;
}

DIMWISE_DETAIL_LIBRARY std::string json_list(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& n : names) { all += (all.empty() ? "" : ",") + in_json(n); }
  return "[" + all + "]";
}

}  // namespace detail

DIMWISE_DETAIL_LIBRARY std::size_t explanation::multiply_adds() const {
  std::size_t n = 0;
  for (const detail::step_description& s : derivation_.steps()) { n += detail::multiply_adds(s); }
  return n;
}

DIMWISE_DETAIL_LIBRARY std::string explanation::text() const {
  std::string all;
  std::size_t number = 0;
  for (const detail::step_description& s : derivation_.steps()) {
    const std::string head = std::to_string(++number) + ". ";
    const std::string indent = "\n" + std::string(head.size(), ' ');
    const std::string changes = detail::step_changes(s).words();
    all += head + s.what + indent + "-> " + detail::in_words(s.result) + indent + "   ";
    all += (changes.empty() ? "" : changes + "; ") + cost(s);
    for (const std::string& r : s.reasons) { all += indent + "   " + r; }
    all += "\n";
  }
  if (multiply_adds() > 0) { all += "in all: " + detail::grouped(multiply_adds()) + " multiply-adds\n"; }
  if (!plan_.empty()) { all += "what runs:\n"; }
  for (const plan_step& p : plan_) {
    const std::string kind = name_of(p.kind);
    all += "  " + kind + std::string(kind.size() < 10 ? 10 - kind.size() : 1, ' ') + p.operation + " -> " + p.result +
           "\n";
  }
  return all;
}

DIMWISE_DETAIL_LIBRARY std::string explanation::markdown() const {
  using detail::in_markdown;
  std::string all = "| step | operation | dimensions | changes | multiply-adds | bytes |\n|--:|---|---|---|--:|--:|\n";
  std::size_t number = 0;
  for (const detail::step_description& s : derivation_.steps()) {
    const std::size_t n = detail::multiply_adds(s);
    all += "| " + std::to_string(++number) + " | " + in_markdown(s.what) + " | " +
           in_markdown(detail::in_words(s.result)) + " | " + in_markdown(detail::step_changes(s).words()) + " | " +
           (n > 0 ? detail::grouped(n) : "") + " | " + detail::grouped(detail::bytes_of(s.result)) + " |\n";
  }
  if (plan_.empty()) { return all; }
  all += "\n| runs | operation | gives |\n|---|---|---|\n";
  for (const plan_step& p : plan_) {
    all +=
        std::string("| ") + name_of(p.kind) + " | " + in_markdown(p.operation) + " | " + in_markdown(p.result) + " |\n";
  }
  return all;
}

DIMWISE_DETAIL_LIBRARY std::string explanation::json() const {
  using detail::in_json;
  std::string all = "{\"steps\":[";
  std::size_t number = 0;
  for (const detail::step_description& s : derivation_.steps()) {
    const detail::step_changes changes(s);
    all += number == 0 ? "" : ",\n";
    all += "{\"number\":" + std::to_string(++number) + ",\"operation\":" + in_json(s.operation) +
           ",\"words\":" + in_json(s.what) + ",\"over\":" + detail::json_list(s.over) + ",\"operands\":[";
    bool first = true;
    for (const detail::said& o : s.operands) {
      if (o.step == 0) { continue; }
      all += (first ? "" : ",") + std::to_string(o.step);
      first = false;
    }
    all += "],\"dims\":[";
    for (const detail::dim_description& d : s.result.dims) {
      all += (&d == s.result.dims.data() ? "" : ",") + std::string("{\"name\":") + in_json(d.name) +
             ",\"extent\":" + std::to_string(d.extent) + "}";
    }
    std::vector<std::string> marks;
    for (const detail::mark_description& m : s.result.marks) { marks.push_back(m.name); }
    all += "],\"marks\":" + detail::json_list(marks) + ",\"appear\":" + detail::json_list(changes.appear) +
           ",\"vanish\":" + detail::json_list(changes.vanish) + ",\"renamed\":[";
    for (std::size_t i = 0; i < changes.renamed.size(); ++i) {
      all += (i == 0 ? "" : ",") + detail::json_list({changes.renamed[i].first, changes.renamed[i].second});
    }
    all += "],\"reasons\":" + detail::json_list(s.reasons) +
           ",\"multiply_adds\":" + std::to_string(detail::multiply_adds(s)) +
           ",\"bytes\":" + std::to_string(detail::bytes_of(s.result)) + "}";
  }
  all += "],\"multiply_adds\":" + std::to_string(multiply_adds()) + ",\"plan\":[";
  for (std::size_t i = 0; i < plan_.size(); ++i) {
    all += (i == 0 ? "" : ",") + std::string("{\"kind\":") + in_json(name_of(plan_[i].kind)) +
           ",\"operation\":" + in_json(plan_[i].operation) + ",\"result\":" + in_json(plan_[i].result) + "}";
  }
  return all + "]}\n";
}

DIMWISE_DETAIL_LIBRARY std::string explanation::cost(const detail::step_description& s) {
  const std::size_t n = detail::multiply_adds(s);
  return (n > 0 ? detail::grouped(n) + " multiply-adds, " : "") + detail::grouped(detail::bytes_of(s.result)) +
         " bytes";
}

}  // namespace dimwise

DIMWISE_DETAIL_TEXT_END;

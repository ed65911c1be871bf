// SPDX-License-Identifier: BSL-1.0
// dimwise/viz/pictures/derivation_graph.hpp -- mermaid(expr) and dot(expr): a derivation as a Mermaid or Graphviz
// graph.
//
// Layer: viz. One node per step with its operation and result; one edge per operand.
// Tests: tests/viz/pictures.test.cpp
//
//   std::ofstream("y.dot") << dot(y);        // dot -Tsvg y.dot
//   std::cout << mermaid(y);                 // in a ```mermaid block of a Markdown page
#pragma once

#include <dimwise/support/text_warning.hpp>
#include <dimwise/viz/pictures/derivation.hpp>

#include <string>

DIMWISE_DETAIL_TEXT_BEGIN;

namespace dimwise {

namespace no_adl {

/// The derivation of `x` as a Mermaid flowchart. Does not evaluate x.
template <operand X>
[[nodiscard]] std::string mermaid(const X& x) {
  const detail::derivation d = detail::derivation_of(x);
  std::string all = "flowchart TD\n";
  std::size_t number = 0;
  for (const detail::step_description& s : d.steps()) {
    const std::string id = "s" + std::to_string(++number);
    const bool leaf = s.operands.empty();
    all += "  " + id + (leaf ? "([\"" : "[\"") + detail::in_xml(detail::step_label(s)) + "<br>" +
           detail::in_xml(detail::in_words(s.result)) + (leaf ? "\"])\n" : "\"]\n");
    for (const detail::said& o : s.operands) {
      if (o.step != 0) { all += "  s" + std::to_string(o.step) + " --> " + id + "\n"; }
    }
  }
  return all;
}

/// The derivation of `x` in Graphviz' DOT language. Does not evaluate x.
template <operand X>
[[nodiscard]] std::string dot(const X& x) {
  const detail::derivation d = detail::derivation_of(x);
  std::string all = "digraph derivation {\n  node [shape=box, style=rounded, fontname=monospace];\n";
  std::size_t number = 0;
  for (const detail::step_description& s : d.steps()) {
    const std::string id = "s" + std::to_string(++number);
    std::string label = detail::in_dot(detail::step_label(s));
    label.pop_back();
    label += "\\n" + detail::in_dot(detail::in_words(s.result)).substr(1);
    all += "  " + id + " [label=" + label + "];\n";
    for (const detail::said& o : s.operands) {
      if (o.step != 0) { all += "  s" + std::to_string(o.step) + " -> " + id + ";\n"; }
    }
  }
  return all + "}\n";
}

}  // namespace no_adl

}  // namespace dimwise

DIMWISE_DETAIL_TEXT_END;

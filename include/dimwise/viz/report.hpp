// SPDX-License-Identifier: BSL-1.0
// dimwise/viz/report.hpp -- an HTML report of attention: the formula, its weights, its masks, and the value of each
// step.
//
// Layer: viz. Writes one self-contained HTML file. An expression is walked in the order of its derivation, and each
// step is evaluated. Values normalised over their last dimension are shown as weights: rows are the dimension before
// it, and the other dimensions are heads. Values of a model are added explicitly.
// Tests: tests/viz/report.test.cpp, tests/viz/report_browser.mjs
//
//   report(y, "attention.html", labels<seq>(tokens), labels<key>(tokens));
//   attention_report page("two layers", labels<seq>(tokens), labels<key>(tokens));
//   page.add_weights("layer 1", first);
//   page.add_result("small model", other);                           // two results side by side, with the difference
//   page.add_live(model, {{.text = "abcabc"}}, program);              // interactive runs (live.hpp)
//   page.save("layers.html");
#pragma once

#include <dimwise/support/text_warning.hpp>
#include <dimwise/viz/live.hpp>
#include <dimwise/viz/page/page.hpp>
#include <dimwise/viz/pictures/derivation.hpp>
#include <dimwise/viz/pictures/weights.hpp>

#include <charconv>
#include <cmath>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

DIMWISE_DETAIL_TEXT_BEGIN;

namespace dimwise {

namespace detail {

// A number in the data: 4 digits, and strings for NaN and infinities.
inline std::string json_number(double v) {
  if (std::isnan(v)) { return "\"NaN\""; }
  if (std::isinf(v)) { return v < 0 ? "\"-∞\"" : "\"∞\""; }
  char digits[32];
  const auto r = std::to_chars(digits, digits + sizeof(digits), v == 0 ? 0.0 : v, std::chars_format::general, 4);
  return {digits, r.ptr};
}

// Calls f(node) for each step of the derivation of n, in order.
template <class N, class F>
void each_step(const N& n, const F& f) {
  if constexpr (!is_constant<N>) {
    if constexpr (expression<N>) {
      const auto below = [&](const auto& x) {
        x.each_child([&](const auto& c) {
          if constexpr (operand<decltype(c)>) { each_step(c, f); }
          if constexpr (is_parts<std::remove_cvref_t<decltype(c)>>) {
            c.each_child([&](const auto& part) { each_step(part, f); });
          }
        });
      };
      if constexpr (is_scale_step<N>) {
        below(n.template child<0>());
      } else {
        below(n);
      }
    }
    f(n);
  }
}

template <class Shape>
consteval bool is_weights() {
  using dims = dims_t<Shape>;
  if constexpr (dims::size < 2) {
    return false;
  } else {
    return is_in<element_t<dims::size - 1, dims>, marked_t<normalised, marks_t<Shape>>>;
  }
}

}  // namespace detail

/// The name of a step of a formula, in the reader's words: `{6, "attention"}` for what `explain` numbers 6.
struct step_name {
  std::size_t step;
  std::string name;
};

/// A report that collects formulas, weights, masks and predictions, and is saved as one page.
class attention_report {
 public:
  /// Constructs a report; the labels apply to every dimension of that name. Labels of heads name the heads.
  template <class... D>
  explicit attention_report(std::string title, const labels<D>&... words) : title_(std::move(title)) {
    (words_.emplace_back(detail::name_in_words<D>(), words.words()), ...);
  }

  /// Adds the picture of an expression, its value at each step, and its weights and masks. The page calls a step that
  /// has a name by that name. Throws `error` if the formula has no step of that number.
  template <operand X>
  void add_formula(const X& x, const std::vector<step_name>& names = {}) {
    const explanation e = explain(x);
    const std::size_t steps = e.derivation().steps().size();
    for (const step_name& n : names) {
      if (n.step == 0 || n.step > steps) {
        throw error(error{} << "report: the formula has " << steps << " steps, and the name " << n.name.c_str()
                            << " is for step " << n.step);
      }
    }
    pictures_ +=
        "<div class=\"wide\">" + detail::derivation_picture(e.derivation()).drawn(e.text()).inner_svg() + "</div>\n";
    std::size_t at = 0;
    const auto step = [&](const auto& n) {
      const detail::step_description& s = e.derivation().steps()[at++];
      add_step(n, s, at, names);
    };
    if constexpr (detail::holds_erased<X>) {  // the steps behind an `expr` have no types here: the result alone
      at = steps - 1;
      step(x);
    } else {
      detail::each_step(x, step);
    }
  }
  /// Adds named weights: the last dimension is that of the keys, the one before that of the queries.
  template <operand X>
    requires(detail::dims_t<detail::shape_of<X>>::size > 1)
  void add_weights(const std::string& name, const X& x) {
    append(weights_, map(name, detail::charted("report", detail::stored_values(x))));
  }
  /// Adds a named mask; pass extents as for `indicator`.
  template <mask M, class... Extents>
  void add_mask(const std::string& name, const M& m, const Extents&... extents) {
    append(masks_, map(name, detail::charted("report", detail::stored_values(indicator(m, extents...)))));
  }

  /// Adds probabilities of the next token: the last dimension is that of the choices, the one before that of the
  /// positions.
  template <operand X>
    requires(detail::dims_t<detail::shape_of<X>>::size > 1)
  void add_prediction(const std::string& name, const X& x) {
    append(predictions_, map(name, detail::charted("report", detail::stored_values(x))));
  }
  /// Adds an interactive model that the page runs by `program`, the bytes of a WebAssembly module that contains
  /// `model`.
  /// The page opens with the first of the `stored` runs; if the program is missing or does not run, only these are
  /// shown.
  void add_live(const live_model& model, const std::vector<live_settings>& stored, std::string_view program = {}) {
    if (stored.empty()) { throw error(error{} << "report: a live model needs a stored run"); }
    live_ = ",\n\"live\":{\"label\":" + detail::in_json(model.label) + ",\"hint\":" + detail::in_json(model.hint) +
            ",\"heads\":" + detail::json_list(model.heads) + ",\"runs\":[";
    for (std::size_t i = 0; i < stored.size(); ++i) {
      const attention_report run = model.run(stored[i]);
      if (i == 0) { pictures_ += run.pictures_; }
      live_ += (i == 0 ? "{" : ",\n{") + detail::members_of(stored[i]) + "," + run.members() + "}";
    }
    live_ += "]}";
    program_ = detail::in_base64(program);
  }

  /// Adds a named result, for example of another model or another text. The page shows one result at a time, or two of
  /// them side by side with their difference.
  void add_result(const std::string& name, const attention_report& result) {
    append(results_, "{\"name\":" + detail::in_json(name) + "," + result.members() + "}");
    if (pictures_ != result.pictures_) { pictures_ += result.pictures_; }
  }

  /// The collected data as JSON: weights, masks, steps, predictions.
  [[nodiscard]] std::string json() const { return "{" + members() + "}"; }
  /// The HTML page.
  [[nodiscard]] std::string html() const {
    const std::string heading = live_.empty() ? "The formula" : "The formula, of the first stored run";
    const std::string formula =
        pictures_.empty() ? "" : "<section><h2>" + heading + "</h2>\n" + pictures_ + "</section>\n";
    return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
           "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
           "<meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n<title>" +
           detail::in_xml(title_) + "</title>\n<style>" + detail::style_sheet + detail::report_style +
           "</style>\n</head>\n<body class=\"dw\">\n<main>\n<h1>" + detail::in_xml(title_) + "</h1>\n" +
           detail::report_settings + (live_.empty() ? formula : "") + detail::report_body +
           (live_.empty() ? "" : formula) +  // the settings are near the views that they change
           "</main>\n<script type=\"application/json\" id=\"data\">{" + members() + live_ + ",\n\"results\":[" +
           results_ + "]}</script>\n<script type=\"application/wasm\" id=\"program\">" + program_ +
           "</script>\n<script>" + detail::report_program + "</script>\n</body>\n</html>\n";
  }
  /// Writes the page atomically. Throws `error` on failure.
  void save(const std::string& path) const { detail::save_file("report", path, html()); }

 private:
  [[nodiscard]] std::string members() const {
    return "\"weights\":[" + weights_ + "],\n\"masks\":[" + masks_ + "],\n\"steps\":[" + steps_ +
           "],\n\"predictions\":[" + predictions_ + "]";
  }
  static void append(std::string& all, const std::string& one) { all += (all.empty() ? "" : ",\n") + one; }

  // No labels for another extent: a step may have a part of the dimension.
  [[nodiscard]] std::vector<std::string> words_where_they_fit(const std::string& name, std::size_t extent) const {
    for (const auto& [dimension, words] : words_) {
      if (dimension == name && words.size() == extent) { return words; }
    }
    return {};
  }
  [[nodiscard]] std::vector<std::string> words_of(const std::string& name, std::size_t extent) const {
    for (const auto& [dimension, words] : words_) {
      if (dimension != name) { continue; }
      if (words.size() != extent) {
        detail::raise<extent_error>(error{} << "report: dimension " << name.c_str() << " has extent " << extent
                                            << " and " << words.size() << " labels (R15)");
      }
      return words;
    }
    return {};
  }
  // Heat maps of the last two dimensions, one per element of the others.
  [[nodiscard]] std::string map(const std::string& name, const detail::charted_values& c) const {
    const std::size_t rank = c.dims.size();
    const detail::printed_dimension one{"", 1};
    const detail::printed_dimension& rows = rank > 1 ? c.dims[rank - 2] : one;
    const detail::printed_dimension& columns = rank > 0 ? c.dims[rank - 1] : one;
    std::vector<detail::printed_dimension> dims = c.dims;
    std::size_t maps = 1;
    for (std::size_t d = 0; d + 2 < rank; ++d) {
      maps *= dims[d].extent;
      dims[d].words = words_of(dims[d].name, dims[d].extent);
    }
    std::vector<std::string> places;
    for (std::size_t m = 0; m < maps; ++m) {
      const std::string place = detail::place_in_words(dims, m);
      places.push_back(place.empty() ? "all" : place);
    }
    std::string s = "{\"name\":" + detail::in_json(name) + ",\"rows\":" + std::to_string(rows.extent) +
                    ",\"columns\":" + std::to_string(columns.extent) + ",\"rowName\":" + detail::in_json(rows.name) +
                    ",\"columnName\":" + detail::in_json(columns.name) + ",\"places\":" + detail::json_list(places) +
                    ",\"rowWords\":" + detail::json_list(words_of(rows.name, rows.extent)) +
                    ",\"columnWords\":" + detail::json_list(words_of(columns.name, columns.extent)) + ",\"values\":[";
    for (std::size_t i = 0; i < c.values.size(); ++i) { s += (i == 0 ? "" : ",") + detail::json_number(c.values[i]); }
    return s + "]}";
  }
  template <class N>
  void add_step(const N& n, const detail::step_description& s, std::size_t number,
                const std::vector<step_name>& names) {
    const auto& values = detail::stored_values(n);
    const auto words = [&]<class D>() {
      return words_where_they_fit(detail::name_in_words<D>(), values.extents().template extent<D>());
    };
    const std::string given = name_of(number, names);
    const std::string what = (given.empty() ? "" : given + ": ") + with_names(s.what, names);
    append(steps_, "{\"number\":" + std::to_string(number) + ",\"words\":" + detail::in_json(what) +
                       ",\"result\":" + detail::in_json(detail::in_words(s.result)) +
                       ",\"table\":" + table(detail::text_in_words(values, words).text) + "}");
    if constexpr (detail::is_weights<detail::shape_of<N>>() && !detail::is_view<N>) {
      const std::string name = s.over.empty() ? s.operation : detail::angle(s.operation, s.over);
      add_weights(given.empty() ? "step " + std::to_string(number) + ": " + name : given, values);
    }
    if constexpr (detail::is_masked_node<N>) {
      using mask_type = std::remove_cvref_t<decltype(n.template child<1>())>;
      using shape = typename mask_type::facts::shape;
      const auto extents = detail::extents_from<shape>("report", n.extents());
      const tensor shown = detail::indicator_node<shape, bool, mask_type>({}, extents, n.template child<1>());
      append(masks_, map(detail::mask_in_words(n.template child<1>()), detail::charted("report", shown)));
    }
  }
  static std::string name_of(std::size_t number, const std::vector<step_name>& names) {
    for (const step_name& n : names) {
      if (n.step == number) { return n.name; }
    }
    return {};
  }
  // "softmax<key> of step 5" with the names of steps instead of their numbers.
  static std::string with_names(const std::string& words, const std::vector<step_name>& names) {
    static constexpr std::string_view step = "step ";
    std::string all;
    std::size_t done = 0;
    for (std::size_t at; (at = words.find(step, done)) != std::string::npos;) {
      std::size_t number = 0;
      const char* const digits = words.data() + at + step.size();
      const char* const end = std::from_chars(digits, words.data() + words.size(), number).ptr;
      const std::string name = end == digits ? "" : name_of(number, names);
      const auto after = static_cast<std::size_t>(end - words.data());
      all += words.substr(done, at - done) + (name.empty() ? words.substr(at, after - at) : name);
      done = after;
    }
    return all + words.substr(done);
  }
  // Keeps line breaks, the only control characters in printed text.
  static std::string table(const std::string& text) {
    std::string all;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      std::string line = detail::in_json(text.substr(begin, end - begin));
      all += line.substr(1, line.size() - 2) + "\\n";
      begin = end + 1;
    }
    return "\"" + all + "\"";
  }

  std::string title_;
  std::vector<std::pair<std::string, std::vector<std::string>>> words_;
  std::string pictures_;
  std::string weights_;
  std::string masks_;
  std::string steps_;
  std::string predictions_;
  std::string results_;
  std::string live_;
  std::string program_;
};

namespace detail {

// The answer of a page's program: the run as JSON, or the error of the settings.
inline std::string live_answer(const live_model& model, std::string_view request) {
  try {
    return model.run(settings_in(request)).json();
  } catch (const std::exception& e) { return "{\"error\":" + in_json(e.what()) + "}"; }
}

}  // namespace detail

namespace no_adl {

/// Writes a report of an expression: its picture, weights, masks, and the value of each step.
template <operand X, class... D>
void report(const X& x, const std::string& path, const labels<D>&... words) {
  attention_report page(describe(x), words...);
  page.add_formula(x);
  page.save(path);
}

}  // namespace no_adl

}  // namespace dimwise

DIMWISE_DETAIL_TEXT_END;

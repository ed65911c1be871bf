// SPDX-License-Identifier: BSL-1.0
// explore.wasm -- each step of the model of 24_induction, for the page "See attention" of the site.
//
// The page writes a request to `room(bytes)`: a line with the mask, then the letters. `answer()` returns each step
// with its type, its code and its values as JSON, or the message of an exception. examples/live/explore.sh compiles it.
#include "../support/induction.hpp"
#include "embedded.hpp"
#include <dimwise/io/checkpoint.hpp>

#include <cstddef>
#include <exception>
#include <string>

namespace {

using namespace induction;

std::string request;
std::string text;

const induction::model<>& trained() {
  static const induction::model<> made = [] {
    auto m = nn::initialised<induction::model<>>(nn::normal(1), seq{length});
    io::load(m, io::parse_safetensors(embedded(), "induction.safetensors"));
    return m;
  }();
  return made;
}

// One step in JSON: its type as `describe` prints it, the code that computes it, and its values in memory order.
template <class X>
std::string step(const std::string& name, const std::string& code, const X& x) {
  std::string s = "{\"name\":" + detail::in_json(name) + ",\"code\":" + detail::in_json(code) +
                  ",\"type\":" + detail::in_json(describe(x)) + ",\"values\":[";
  const char* between = "";
  for (const auto v : x.values()) {
    s += between + detail::json_number(static_cast<double>(v));
    between = ",";
  }
  return s + "]}";
}

// The declaration of the selected mask.
std::string code_of(const live_settings& of) {
  if (of.mask == "causal") { return "causal<seq, key> mask;"; }
  if (of.mask == "none") { return "window<seq, key> mask{-1, -1};  // everything is visible"; }
  return "window<seq, key> mask{" + std::to_string(of.width - 1) + ", 0};";
}

std::string steps_of(const layer<>& l, const tensor<float, seq, d_model>& x, const live_settings& of) {
  const auto visible = of.visible<seq, key>();
  const tensor n = l.norm(x);
  const tensor q = l.attention.query(n);
  const tensor k = rename<seq, key>(l.attention.key(n));
  const tensor v = rename<seq, key>(l.attention.value(n));
  const tensor s = scores<d_k>(q, k);
  const tensor a = softmax<key>(masked(s, visible));
  const tensor c = contract<key>(a, v);
  const std::size_t extent = x.extents().extent<seq>();
  return step("Input", "x", x) + ",\n" + step("Normalized input", "auto n = norm(x);", n) + ",\n" +
         step("Queries", "auto q = contract<d_model>(n, w_q);", q) + ",\n" +
         step("Keys", "auto k = rename<seq, key>(contract<d_model>(n, w_k));", k) + ",\n" +
         step("Values", "auto v = rename<seq, key>(contract<d_model>(n, w_v));", v) + ",\n" +
         step("Scores", "auto s = scores<d_k>(q, k);", s) + ",\n" +
         step("Mask", code_of(of), tensor(indicator(visible, seq{extent}, key{extent}))) + ",\n" +
         step("Softmax", "auto a = softmax<key>(masked(s, mask));", a) + ",\n" +
         step("Context", "auto c = contract<key>(a, v);", c) + ",\n" +
         step("Output", "auto y = x + contract<heads, d_v>(c, w_o);", tensor(x + l.attention.output(c)));
}

std::string explored(const std::string& asked) {
  const live_settings of = detail::settings_in(asked);
  const auto& m = trained();
  const tensor symbols = symbols_of(of.text);
  const auto visible = of.visible<seq, key>();
  const tensor<float, seq, d_model> x = at<batch>(m.start(symbols), 0);
  const tensor<float, seq, d_model> y = x + m.first.attention(m.first.norm(x), visible);
  const tensor<float, seq, d_model> z = y + m.second.attention(m.second.norm(y), visible);
  return "{\"layers\":[[" + steps_of(m.first, x, of) + "],\n[" + steps_of(m.second, y, of) + "]],\n\"prediction\":" +
         step("Prediction", "auto p = softmax<symbol>(contract<d_model>(norm(z), w_out));",
              tensor(softmax<symbol>(m.output(m.norm(z))))) +
         "}";
}

}  // namespace

extern "C" {
[[clang::export_name("room")]] char* room(std::size_t bytes) {
  request.resize(bytes);
  return request.data();
}
[[clang::export_name("answer")]] const char* answer() {
  try {
    text = explored(request);
  } catch (const std::exception& e) { text = "{\"error\":" + detail::in_json(e.what()) + "}"; }
  return text.c_str();
}
}

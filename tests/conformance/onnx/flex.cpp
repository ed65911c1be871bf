// tests/conformance/onnx/flex.cpp -- ai.onnx.preview FlexAttention: scores and weights changed by functions that a case
// brings as graphs. Each node of a graph is an expression of the language.
//
// Slots: 0 Q, 1 K, 2 V -> 0 Y.
// SPDX-License-Identifier: BSL-1.0
#include "conformance/attention/attention.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>

namespace conformance {
namespace {

using namespace dimwise;

// What a node computes: some numbers (extents, positions, constants), or one for each score.
template <class T>
struct value {
  using scores = tensor<T, batch, kv_heads, shared_by, seq, key>;
  std::vector<double> numbers;
  std::optional<scores> elements;
};

template <class T>
class graph {
 public:
  using scores = typename value<T>::scores;

  graph(const nlohmann::json& definition, const scores& x) : like_(x) {
    for (const auto& [name, initial] : definition.at("initializers").items()) {
      value<T> v;
      for (const auto& n : initial.is_array() ? initial : nlohmann::json::array({initial})) {
        v.numbers.push_back(number(n));
      }
      known_[name] = v;
    }
    known_[definition.at("inputs").at(0)] = {{}, x};
    for (const auto& node : definition.at("nodes")) {
      std::vector<value<T>> inputs;
      for (const auto& name : node.at("inputs")) { inputs.push_back(known_.at(name)); }
      known_[node.at("outputs").at(0)] = compute(node.at("op"), inputs);
    }
    result_ = over_scores(known_.at(definition.at("outputs").at(0)));
  }
  [[nodiscard]] const scores& result() const { return result_; }

 private:
  static double number(const nlohmann::json& n) {
    if (n.is_number()) { return n.get<double>(); }
    if (n == "inf") { return INFINITY; }
    if (n == "-inf") { return -INFINITY; }
    throw std::runtime_error("no number: " + n.dump());
  }
  [[nodiscard]] scores over_scores(const value<T>& v) const {
    if (v.elements) { return *v.elements; }
    if (v.numbers.size() != 1) {
      throw std::runtime_error("a graph uses a list where it needs one number for each score");
    }
    scores all = like_;
    all.fill(static_cast<T>(v.numbers.front()));
    return all;
  }
  template <class D>
  [[nodiscard]] scores along(const std::vector<double>& line) const {
    const std::vector<T> values(line.begin(), line.end());
    return permute<batch, kv_heads, shared_by, seq, key>(broadcast_like(tensor<T, D>(values, D{values.size()}), like_));
  }
  [[nodiscard]] std::vector<double> extents() const {
    const auto& e = like_.extents();
    const auto heads = e.template extent<kv_heads>() * e.template extent<shared_by>();
    return {double(e.template extent<batch>()), double(heads), double(e.template extent<seq>()),
            double(e.template extent<key>())};
  }

  value<T> compute(const std::string& op, const std::vector<value<T>>& x) const {
    if (op == "Shape") { return {extents(), {}}; }
    if (op == "Identity" || op == "Cast") { return x.at(0); }
    if (op == "Gather") { return {{x.at(0).numbers.at(static_cast<std::size_t>(x.at(1).numbers.at(0)))}, {}}; }
    if (op == "Range") {
      std::vector<double> line;
      for (double n = x.at(0).numbers.at(0); n < x.at(1).numbers.at(0); n += x.at(2).numbers.at(0)) {
        line.push_back(n);
      }
      return {line, {}};
    }
    if (op == "Reshape") {
      // A line of positions along the last axis, the keys, or the one before, the queries.
      const auto& shape = x.at(1).numbers;
      const auto from_right = shape.rend() - std::find(shape.rbegin(), shape.rend(), -1.0);
      if (from_right == static_cast<std::ptrdiff_t>(shape.size())) { return {{}, along<key>(x.at(0).numbers)}; }
      if (from_right + 1 == static_cast<std::ptrdiff_t>(shape.size())) { return {{}, along<seq>(x.at(0).numbers)}; }
      throw std::runtime_error("a graph reshapes to other axes than those of queries or keys");
    }
    if (op == "Where") {
      return {{}, scores(map([](T c, T a, T b) {
        return c != T(0) ? a : b;
      }, over_scores(x.at(0)), over_scores(x.at(1)), over_scores(x.at(2))))};
    }
    const scores a = over_scores(x.at(0));
    if (x.size() == 1) { return {{}, unary(op, a)}; }
    return {{}, binary(op, a, over_scores(x.at(1)))};
  }
  template <class F>
  static F found_in(const std::map<std::string, F>& functions, const std::string& op) {
    const auto found = functions.find(op);
    if (found == functions.end()) { throw std::runtime_error("no operator " + op + " in a graph"); }
    return found->second;
  }
  static scores unary(const std::string& op, const scores& a) {
    if (op == "Tanh") { return tanh(a); }
    using function = T (*)(T);
    const std::map<std::string, function> others{{"Exp", [](T t) { return std::exp(t); }},
                                                 {"Log", [](T t) { return std::log(t); }},
                                                 {"Sqrt", [](T t) { return std::sqrt(t); }},
                                                 {"Abs", [](T t) { return std::abs(t); }},
                                                 {"Neg", [](T t) { return -t; }},
                                                 {"Relu", [](T t) { return t < T(0) ? T(0) : t; }},
                                                 {"Not", [](T t) { return T(t == T(0)); }},
                                                 {"Sigmoid", [](T t) { return fn::sigmoid{}(t); }}};
    return map(found_in(others, op), a);
  }
  static scores binary(const std::string& op, const scores& a, const scores& b) {
    if (op == "Add") { return a + b; }
    if (op == "Sub") { return a - b; }
    if (op == "Mul") { return a * b; }
    if (op == "Div") { return a / b; }
    using test = T (*)(T, T);
    const std::map<std::string, test> others{{"Greater", [](T s, T t) { return T(s > t); }},
                                             {"GreaterOrEqual", [](T s, T t) { return T(s >= t); }},
                                             {"Less", [](T s, T t) { return T(s < t); }},
                                             {"LessOrEqual", [](T s, T t) { return T(s <= t); }},
                                             {"Equal", [](T s, T t) { return T(s == t); }},
                                             {"And", [](T s, T t) { return T(s != T(0) && t != T(0)); }},
                                             {"Or", [](T s, T t) { return T(s != T(0) || t != T(0)); }},
                                             {"Max", [](T s, T t) { return s < t ? t : s; }},
                                             {"Min", [](T s, T t) { return t < s ? t : s; }},
                                             {"Pow", [](T s, T t) { return std::pow(s, t); }}};
    return map(found_in(others, op), a, b);
  }

  scores like_;
  std::map<std::string, value<T>> known_;
  scores result_;
};

template <class T>
void flex_attention(run& r) {
  const batch sequences{r.extent(0, 0)};
  const kv_heads heads{r.extent(1, 1)};
  const shared_by group{r.extent(0, 1) / heads.extent()};
  const auto q = r.grouped<T>(0, sequences, heads, group, seq{r.extent(0, 2)}, d_k{r.extent(0, 3)});
  const auto k = r.get<T, batch, kv_heads, key, d_k>(1);
  const auto v = r.get<T, batch, kv_heads, key, d_v>(2);

  const auto s = scaled(contract<d_k>(q, k), T(r.number("scale", 1 / std::sqrt(static_cast<double>(r.extent(0, 3))))));
  if (!r.has_attribute("score_mod") && !r.has_attribute("prob_mod")) {
    r.expect(0, contract<key>(softmax<key>(s), v));
    return;
  }
  typename value<T>::scores changed = plain(s);
  if (r.has_attribute("score_mod")) {
    changed = graph<T>(r.attributes().at("score_mod").at("graph"), changed).result();
  }
  const auto p = softmax<key>(changed);
  if (r.has_attribute("prob_mod")) {
    r.expect(0, contract<key>(graph<T>(r.attributes().at("prob_mod").at("graph"), plain(p)).result(), v));
  } else {
    r.expect(0, contract<key>(p, v));
  }
}
const family flex_cases{"FlexAttention",
                        [](run& r) { r.dtype(0) == "float64" ? flex_attention<double>(r) : flex_attention<float>(r); }};

}  // namespace
}  // namespace conformance

// tests/conformance/gradients/operations.cpp -- gradients of products, arithmetic, functions, rows and totals.
// SPDX-License-Identifier: BSL-1.0
#include "gradients.hpp"

#include <algorithm>

namespace {

using namespace conformance;
using namespace conformance::gradients;

// ---- products and arithmetic: what both operands have, what one has, what is summed
// ----------------------------------

template <class T>
void contract_named(program<T>& p) {
  const group summed = p.names("over");
  const group inputs = p.input_names();
  const std::string a = inputs.at(0);
  const std::string b = inputs.at(1);
  const group both = (p.dims(a) & p.dims(b)) - summed;
  const group of_a = p.dims(a) - both - summed;
  const group of_b = p.dims(b) - both - summed;
  p.differentiate(std::tuple(named<shared, row, inner>{a, {both, of_a, summed}},
                             named<shared, inner, column>{b, {both, summed, of_b}}),
                  std::tuple(named<shared, row, column>{"y", {both, of_a, of_b}}),
                  [](const auto& m) { return std::tuple(contract<inner>(std::get<0>(m), std::get<1>(m))); });
}

// f of two operands, whatever dimensions each of them lacks.
template <class T, class F>
void broadcast_by_name(program<T>& p, const F& f) {
  const group inputs = p.input_names();
  const std::string a = inputs.at(0);
  const std::string b = inputs.at(1);
  const group both = p.dims(a) & p.dims(b);
  const group of_a = p.dims(a) - both;
  const group of_b = p.dims(b) - both;
  const named<shared, rest> wide_a{a, {both, of_a}};
  const named<shared, after> wide_b{b, {both, of_b}};
  const named<shared> narrow_a{a, {both}};
  const named<shared> narrow_b{b, {both}};
  const auto formula = [&](const auto& m) { return std::tuple(f(std::get<0>(m), std::get<1>(m))); };
  if (of_b.empty()) {
    p.differentiate(std::tuple(wide_a, narrow_b), std::tuple(named<shared, rest>{"y", {both, of_a}}), formula);
  } else if (of_a.empty()) {
    p.differentiate(std::tuple(narrow_a, wide_b), std::tuple(named<shared, after>{"y", {both, of_b}}), formula);
  } else {
    const auto repeats = extent_of<after>(p.tensor_of(wide_b));
    p.differentiate(std::tuple(wide_a, wide_b), std::tuple(named<shared, rest, after>{"y", {both, of_a, of_b}}),
                    [&](const auto& m) {
      const auto all = broadcast<after>(std::get<0>(m), after{static_cast<std::ptrdiff_t>(repeats)});
      return std::tuple(f(all, std::get<1>(m)));
    });
  }
}
template <class T>
void add_named(program<T>& p) {
  broadcast_by_name(p, [](const auto& a, const auto& b) { return a + b; });
}
template <class T>
void subtract_named(program<T>& p) {
  broadcast_by_name(p, [](const auto& a, const auto& b) { return a - b; });
}
template <class T>
void multiply_named(program<T>& p) {
  broadcast_by_name(p, [](const auto& a, const auto& b) { return a * b; });
}
template <class T>
void divide_named(program<T>& p) {
  broadcast_by_name(p, [](const auto& a, const auto& b) { return a / b; });
}

// ---- functions
// -------------------------------------------------------------------------------------------------------

template <class T, class F>
void function_of_x(program<T>& p, const F& f) {
  const group all = p.dims("x");
  p.differentiate(std::tuple(named<rest>{"x", {all}}), std::tuple(named<rest>{"y", {all}}),
                  [&](const auto& m) { return std::tuple(f(std::get<0>(m))); });
}
#define ELEMENTWISE(name)                                             \
  template <class T>                                                  \
  void name##_named(program<T>& p) {                                  \
    function_of_x(p, [](const auto& x) { return dimwise::name(x); }); \
  }                                                                   \
  CONFORMANCE_GRADIENT(#name, name##_named)
ELEMENTWISE(exp)
ELEMENTWISE(log)
ELEMENTWISE(sqrt)
ELEMENTWISE(tanh)
ELEMENTWISE(erf)
ELEMENTWISE(sigmoid)
ELEMENTWISE(relu)
ELEMENTWISE(gelu)
ELEMENTWISE(gelu_tanh)
ELEMENTWISE(silu)
#undef ELEMENTWISE

template <class T>
void pow_named(program<T>& p) {
  const auto exponent = static_cast<T>(p.number("exponent", 1));
  function_of_x(p, [&](const auto& x) { return pow(x, exponent); });
}
template <class T>
void clamp_named(program<T>& p) {
  const auto low = static_cast<T>(p.number("low", 0));
  const auto high = static_cast<T>(p.number("high", 0));
  if (!p.says("high")) {
    function_of_x(p, [&](const auto& x) { return max(x, low); });
  } else if (!p.says("low")) {
    function_of_x(p, [&](const auto& x) { return min(x, high); });
  } else {
    function_of_x(p, [&](const auto& x) { return clamp(x, low, high); });
  }
}
template <class T>
void where_named(program<T>& p) {
  const group mask = p.dims("m");
  const group left = p.dims("a") - mask;
  const named<shared, rest> a{"a", {mask, left}};
  const named<shared, rest> b{"b", {mask, left}};
  const auto chosen = p.template array_of<bool>(named<shared>{"m", {mask}});
  p.differentiate(std::tuple(a, b), std::tuple(named<shared, rest>{"y", {mask, left}}),
                  [&](const auto& m) { return std::tuple(where(chosen, std::get<0>(m), std::get<1>(m))); });
}

// ---- rows and totals
// -------------------------------------------------------------------------------------------------

template <class D, class T, class F>
void rows_named(program<T>& p, const F& f) {
  const group along = p.names("over");
  const group beside = p.dims("x") - along;
  p.differentiate(std::tuple(named<rest, D>{"x", {beside, along}}), std::tuple(named<rest, D>{"y", {beside, along}}),
                  [&](const auto& m) { return std::tuple(f(std::get<0>(m))); });
}
template <class D, class T, class F>
void total_named(program<T>& p, const F& f) {
  const group along = p.names("over");
  const group beside = p.dims("x") - along;
  p.differentiate(std::tuple(named<rest, D>{"x", {beside, along}}), std::tuple(named<rest>{"y", {beside}}),
                  [&](const auto& m) { return std::tuple(f(std::get<0>(m))); });
}
template <class T>
void softmax_named(program<T>& p) {
  rows_named<choices>(p, [](const auto& x) { return softmax<choices>(x); });
}
template <class T>
void log_softmax_named(program<T>& p) {
  rows_named<choices>(p, [](const auto& x) { return log_softmax<choices>(x); });
}
template <class T>
void logsumexp_named(program<T>& p) {
  total_named<choices>(p, [](const auto& x) { return logsumexp<choices>(x); });
}
template <class T>
void sum_named(program<T>& p) {
  total_named<features>(p, [](const auto& x) { return sum<features>(x); });
}
template <class T>
void max_named(program<T>& p) {
  total_named<features>(p, [](const auto& x) { return max<features>(x); });
}
template <class T>
void mean_named(program<T>& p) {
  if (!p.says("padding")) {
    total_named<features>(p, [](const auto& x) { return mean<features>(x); });
    return;
  }
  const std::string name = p.text("padding");
  const group along = p.names("over");
  const group sequences = p.dims(name);
  const group beside = p.dims("x") - along - sequences;
  const auto lengths = p.template array_of<std::int64_t>(named<shared>{name, {sequences}});
  p.differentiate(std::tuple(named<shared, row, rest>{"x", {sequences, along, beside}}),
                  std::tuple(named<shared, rest>{"y", {sequences, beside}}),
                  [&](const auto& m) { return std::tuple(mean<row>(std::get<0>(m), padding<row>(lengths))); });
}
template <class T>
void layer_norm_named(program<T>& p) {
  const group along = p.names("over");
  const group weighed = p.dims("gamma") - along;
  const group beside = p.dims("x") - along - weighed;
  const double epsilon = p.number("eps", 1e-5);
  p.differentiate(
      std::tuple(named<rest, shared, features>{"x", {beside, weighed, along}},
                 named<shared, features>{"gamma", {weighed, along}}, named<shared, features>{"beta", {weighed, along}}),
      std::tuple(named<rest, shared, features>{"y", {beside, weighed, along}}), [&](const auto& m) {
    const auto& [x, gamma, beta] = m;
    return std::tuple(layer_norm<features>(x, gamma, beta, epsilon));
  });
}
template <class T>
void rms_norm_named(program<T>& p) {
  const group along = p.names("over");
  const group weighed = p.dims("gamma") - along;
  const group beside = p.dims("x") - along - weighed;
  const double epsilon = p.number("eps", 1e-6);
  p.differentiate(std::tuple(named<rest, shared, features>{"x", {beside, weighed, along}},
                             named<shared, features>{"gamma", {weighed, along}}),
                  std::tuple(named<rest, shared, features>{"y", {beside, weighed, along}}), [&](const auto& m) {
    return std::tuple(rms_norm<features>(std::get<0>(m), std::get<1>(m), epsilon));
  });
}
template <class T>
void cumsum_named(program<T>& p) {
  const group along = p.names("over");
  const group all = p.dims("x");
  const auto at = static_cast<std::ptrdiff_t>(std::find(all.begin(), all.end(), along.at(0)) - all.begin());
  const std::array<group, 3> groups{group(all.begin(), all.begin() + at), along,
                                    group(all.begin() + at + 1, all.end())};
  p.differentiate(std::tuple(named<rest, row, after>{"x", groups}), std::tuple(named<rest, row, after>{"y", groups}),
                  [](const auto& m) { return std::tuple(cumsum<row>(std::get<0>(m))); });
}

CONFORMANCE_GRADIENT("contract", contract_named)
CONFORMANCE_GRADIENT("add", add_named)
CONFORMANCE_GRADIENT("subtract", subtract_named)
CONFORMANCE_GRADIENT("multiply", multiply_named)
CONFORMANCE_GRADIENT("divide", divide_named)
CONFORMANCE_GRADIENT("pow", pow_named)
CONFORMANCE_GRADIENT("clamp", clamp_named)
CONFORMANCE_GRADIENT("where", where_named)
CONFORMANCE_GRADIENT("softmax", softmax_named)
CONFORMANCE_GRADIENT("log_softmax", log_softmax_named)
CONFORMANCE_GRADIENT("logsumexp", logsumexp_named)
CONFORMANCE_GRADIENT("sum", sum_named)
CONFORMANCE_GRADIENT("mean", mean_named)
CONFORMANCE_GRADIENT("max", max_named)
CONFORMANCE_GRADIENT("layer_norm", layer_norm_named)
CONFORMANCE_GRADIENT("rms_norm", rms_norm_named)
CONFORMANCE_GRADIENT("scan", cumsum_named)

}  // namespace

// SPDX-License-Identifier: BSL-1.0
// Formulas that are drawn by numbers: steps of one or two values, each of them a formula of its own, joined at random.
#pragma once

#include "grad/nodes.hpp"

#include <string>
#include <vector>

namespace grad_tests {

// What every step has: values of [batch, seq, d_model], a square weight, and a row.
template <class T>
struct formula_operands {
  using value = tensor<T, batch, seq, d_model>;
  tensor<T, d_model, out<d_model>> weight;
  tensor<T, d_model> row;
};

// One step: which of `Steps`, and the values that it reads.
struct formula_step {
  std::size_t kind;
  std::size_t first;
  std::size_t second;
};
template <class Steps>
std::vector<formula_step> drawn_formula(std::uint64_t seed) {
  nn::random draw(seed);
  const auto below = [&](std::size_t n) {
    return std::min(n - 1, static_cast<std::size_t>(draw.uniform() * static_cast<double>(n)));
  };
  std::vector<formula_step> steps(2 + below(3));
  for (std::size_t i = 0; i < steps.size(); ++i) {
    // The first step is the one that has the seed's number, so that each of them is drawn.
    const std::size_t kind = i == 0 ? seed % Steps::count : below(Steps::count);
    steps[i] = {kind, i, below(i + 1)};  // the value before, so that no step is lost, and any
  }
  return steps;
}

// A step reads values that were stored, and its own formula is nested: both ways of the record are tested.
template <class Steps, class T>
typename formula_operands<T>::value value_of_formula(const std::vector<formula_step>& steps,
                                                     const typename formula_operands<T>::value& x,
                                                     const formula_operands<T>& with) {
  std::vector<typename formula_operands<T>::value> values{x};
  for (const formula_step& s : steps) {
    values.push_back(Steps::apply(s.kind, values[s.first], values[s.second], with));
  }
  return values.back();
}

// What is wrong with formulas from `begin` on, or nothing.
template <class Steps>
std::string wrong_formulas(std::uint64_t begin, std::uint64_t count) {
  const std::tuple model(tensor(some<batch, seq, d_model>(1, batch{2}, seq{3}) * 0.5),
                         tensor(some<d_model, out<d_model>>(2) * 0.4), tensor(some<d_model>(3) * 0.5));
  std::string wrong;
  for (std::uint64_t seed = begin; seed < begin + count; ++seed) {
    const auto steps = drawn_formula<Steps>(seed);
    const auto check = check_gradient(model, [&](const auto& m) {
      using T = detail::value_of<std::remove_cvref_t<decltype(std::get<0>(m))>>;
      return weighed(value_of_formula<Steps, T>(steps, std::get<0>(m), {std::get<1>(m), std::get<2>(m)}));
    }, {.elements = 4});
    if (check.elements >= 12 && check.error <= 1e-8) { continue; }
    wrong += "formula " + std::to_string(seed) + ", steps";
    for (const formula_step& s : steps) {
      wrong += ' ' + std::to_string(s.kind) + '(' + std::to_string(s.first) + ',' + std::to_string(s.second) + ')';
    }
    wrong += ": " + check.where + " differs by " + std::to_string(check.error * 1e8) + "e-8\n";
  }
  return wrong;
}

}  // namespace grad_tests

// SPDX-License-Identifier: BSL-1.0
// dimwise/tensor/checks/deduction.hpp -- what `tensor y = expr;` deduces, and what determines no dimensions.
//
// Layer: tensor. Included by tensor.hpp.
// Tests: tests/tensor/tensor.test.cpp, tests/compile_fail/tensor/
#pragma once

#include <dimwise/tensor/operand.hpp>
#include <dimwise/tensor/refused_shape.hpp>

namespace dimwise {

/// Deduces element type, dimensions and marks from an expression: `tensor y = expr;`.
template <class T, class... DimsAndMarks>
tensor(const detail::stored_as<T, DimsAndMarks...>&) -> tensor<T, DimsAndMarks...>;
tensor(const detail::already_refused&) -> tensor<float>;
template <class Error>
tensor(const detail::other_data<Error>&) -> tensor<float>;
// Numbers, containers, extents and masks do not determine dimensions: `tensor y = values;` is an error.
template <class... Given>
  requires(!(operand<Given> || ...) && !(detail::refused_operand<Given> || ...))
tensor(const Given&...) -> tensor<void, Given...>;

}  // namespace dimwise

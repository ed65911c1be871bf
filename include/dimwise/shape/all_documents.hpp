// SPDX-License-Identifier: BSL-1.0
// dimwise/shape/all_documents.hpp -- the argument that permits a reduction over all packed documents (R19).
//
// Layer: shape.
// Tests: tests/shape/rules/reduce.test.cpp, tests/expr/rows/reduce.test.cpp, tests/compile_fail/reduce/
#pragma once

namespace dimwise {

/// Permits a sum, mean or product over the positions of all packed documents (R19), for example in the gradient of a
/// weight or the mean of a loss: `sum<pk>(x, all_documents{})`, `contract<pk>(x, g, all_documents{})`.
struct all_documents {};

}  // namespace dimwise

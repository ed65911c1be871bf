// SPDX-License-Identifier: BSL-1.0
// dimwise/shape/all_documents.hpp -- what a sum over all packed documents says (R19).
//
// Layer: shape.
// Tests: tests/shape/reduce.test.cpp, tests/expr/reduce.test.cpp, tests/compile_fail/reduce/
#pragma once

namespace dimwise {

/// The sum, the mean or the product goes over the positions of all packed documents (R19): the gradient of a weight,
/// the mean of a loss. `sum<pk>(x, all_documents{})`, `contract<pk>(x, g, all_documents{})`.
struct all_documents {};

}  // namespace dimwise

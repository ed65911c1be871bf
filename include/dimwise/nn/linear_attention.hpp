// SPDX-License-Identifier: BSL-1.0
// dimwise/nn/linear_attention.hpp -- attention without softmax, as an operation: its loop is in the layer eval.
//
// Layer: nn.
// Tests: tests/nn/linear_attention.test.cpp, tests/compile_fail/linear_attention/
#pragma once

#include <dimwise/eval/linear_attention.hpp>

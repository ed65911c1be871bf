// SPDX-License-Identifier: BSL-1.0
// dimwise/nn/linear_attention.hpp -- linear attention, without softmax; its loop is in the layer eval.
//
// Layer: nn.
// Tests: tests/nn/linear_attention.test.cpp, tests/compile_fail/linear_attention/
#pragma once

#include <dimwise/eval/linear_attention.hpp>

// tests/compile_fail/linear_attention/lin_prelude.hpp -- queries, keys and values of one sequence, and a state.
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "../prelude.hpp"
#include <dimwise/nn/linear_attention.hpp>

namespace demo {

extern tensor<float, batch, seq, heads, d_k> k_here;
extern tensor<float, batch, seq, heads, d_v> v_here;
extern tensor<float, batch, seq, heads> decay, beta;
extern nn::linear_state<float, batch, heads, d_k, d_v> state;

}  // namespace demo

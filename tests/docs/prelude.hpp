// tests/docs/prelude.hpp -- what every fragment of code in README.md and docs/ may take for granted.
//
// tests/docs/check.py puts it before each fragment and compiles the fragment inside namespace docs. A fragment may
// declare its own dimensions and variables of the same names; they hide these. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/dimwise.hpp>

namespace docs {

using namespace dimwise;

struct batch : dimwise::batch_dim<> {};
struct seq : dimwise::position_dim<> {};
struct key : dimwise::prime<seq> {};
struct d_model : dimwise::feature_dim<512> {};
struct heads : dimwise::heads_dim<8> {};
struct d_k : dimwise::divided<d_model, heads> {};
struct d_v : dimwise::divided<d_model, heads> {};

// Declared only: fragments are compiled, not linked.
extern tensor<float, batch, seq, d_model> x;
extern tensor<float, d_model, heads, d_k> w_q, w_k;
extern tensor<float, d_model, heads, d_v> w_v;
extern tensor<float, heads, d_v, d_model> w_o;

extern tensor<float, batch, seq, heads, d_k> q;
extern tensor<float, batch, key, heads, d_k> k;
extern tensor<float, batch, key, heads, d_v> v;

}  // namespace docs

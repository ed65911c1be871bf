// tests/compile_fail/prelude.hpp -- dimensions and tensors that the mistakes of this folder are made with.
//
// Plain: every extent is another one. -DEQUAL: all extents are equal, so that only identity tells dimensions apart.
// -DDYNAMIC: extents are known only when the program runs. -DUNUSED: RESULT is `auto`, and nothing is ever evaluated.
// Declared only: cases are compiled, not linked. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/dimwise.hpp>

#if defined EQUAL
#define EXTENT(n) 4
#elif defined DYNAMIC
#define EXTENT(n) dimwise::at_run_time
#else
#define EXTENT(n) n
#endif

// `RESULT y = expression;` evaluates, or only forms the expression.
#ifdef UNUSED
#define RESULT [[maybe_unused]] auto
#else
#define RESULT [[maybe_unused]] dimwise::tensor
#endif

namespace demo {

using namespace dimwise;

struct batch : batch_dim<EXTENT(2)> {};
struct seq : position_dim<EXTENT(5)> {};  // the decoder's positions
struct key : prime<seq> {};               // the same positions, attended to
struct src : position_dim<EXTENT(7)> {};  // the encoder's positions
struct d_model : feature_dim<EXTENT(24)> {};
struct heads : heads_dim<EXTENT(3)> {};
#ifdef EQUAL
struct d_k : feature_dim<4> {};
#else
struct d_k : divided<d_model, heads> {};  // 8
#endif
struct d_v : feature_dim<EXTENT(10)> {};
struct d_ff : feature_dim<EXTENT(13)> {};
struct vocab : choice_dim<EXTENT(11)> {};
struct kv_heads : heads_dim<EXTENT(6)> {};  // grouped heads: each key head serves `group` query heads
struct group_of : heads_dim<EXTENT(9)> {};

extern tensor<float, batch, seq, d_model> x;       // decoder state
extern tensor<float, batch, src, d_model> memory;  // encoder output

extern tensor<float, d_model, heads, d_k> w_q, w_k;
extern tensor<float, d_model, heads, d_v> w_v;
extern tensor<float, heads, d_v, d_model> w_o;

extern tensor<float, batch, seq, heads, d_k> q;
extern tensor<float, batch, key, heads, d_k> k;
extern tensor<float, batch, key, heads, d_v> v;
extern tensor<float, batch, heads, seq, key, raw<d_k>> products;  // q·k, not yet scaled
extern tensor<float, batch, heads, seq, key, score<d_k>> s;       // q·k / √d_k
extern tensor<float, batch, heads, seq, key, normalised<key>> a;  // attention weights
extern tensor<float, batch, seq, heads, d_v> z;                   // attended values

extern tensor<float, batch, src, heads, d_k> k_src;
extern tensor<float, batch, src, heads, d_v> v_src;
extern tensor<float, batch, heads, seq, src, score<d_k>> s_src;
extern tensor<float, batch, heads, seq, src, normalised<src>> a_src;

extern tensor<float, vocab, d_model> embedding;
extern tensor<float, batch, seq, vocab> logits;
extern tensor<id<vocab>, batch, seq> tokens;
extern tensor<int, batch> lengths;

}  // namespace demo

using namespace demo;  // NOLINT(google-build-using-namespace): the cases read like a user's program

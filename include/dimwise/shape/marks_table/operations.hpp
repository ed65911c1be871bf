// SPDX-License-Identifier: BSL-1.0
// dimwise/shape/marks_table/operations.hpp -- the names of the operations.
//
// Layer: shape.
// Tests: tests/shape/marks.test.cpp
#pragma once

namespace dimwise {

/// The operations, as types: in errors, in `explain`, and as the rows of the table of marks.
namespace op {
struct contract;
struct outer;
struct scores;
struct scaled;
struct unscaled;
struct elementwise;
struct divide;
struct map;
struct compare;
struct where;
struct maximum;
struct minimum;
struct clamp;
struct pow;
struct masked;
struct biased;
struct softmax;
struct log_softmax;
struct renormalise;
struct argmax;
struct top_k;
struct sum;
struct mean;
struct max;
struct min;
struct logsumexp;
struct norm;
struct prod;
struct standardize;
struct layer_norm;
struct rms_norm;
struct rename;
struct relabel;
struct permute;
struct split;
struct merge;
struct part;
struct slice;
struct at;
struct unstack;
struct replace_at;
struct assign_at;
struct concat;
struct append;
struct stack;
struct gather;
struct roll;
struct flip;
struct sort;
struct argsort;
struct one_hot;
struct scatter_add;
struct broadcast;
struct broadcast_like;
struct diagonal;
struct rotary;
struct cumsum;
struct cumprod;
struct cross_entropy;
struct kl_divergence;
struct mean_squared_error;
struct binary_cross_entropy;
struct linear_attention;
struct skew;
struct unroll;
struct pool;
struct padding;
struct allow;
struct block;
struct whole_rows;
struct mask_and;
struct mask_or;
struct causal;
struct window;
struct prefix;
struct document;
struct dequantised;
struct quantised;
struct rounded;
struct plain;
struct assign;
}  // namespace op

}  // namespace dimwise

// tests/compile_fail/cache/cache_prelude.hpp -- caches that the mistakes of this folder are made with.
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "../prelude.hpp"
#include <dimwise/nn/cache.hpp>

namespace demo {

struct now : position_dim<> {};  // the positions of this step
struct past : prime<now> {};     // all that were before, attended to

using key_cache = nn::keys<float, batch, heads, past, d_k>;
using rotated_key_cache = nn::keys<float, batch, heads, past, d_k, rotated<d_k, now>>;
using value_cache = nn::values<float, batch, heads, past, d_v>;

extern nn::kv_cache<past, nn::capacity<64>, key_cache, value_cache> cache;
extern nn::kv_cache<past, nn::capacity<64>, rotated_key_cache, value_cache> rotated_cache;

extern tensor<float, batch, now, heads, d_k> k_now;
extern tensor<float, batch, past, heads, d_k> k_new;
extern tensor<float, batch, past, heads, d_v> v_new;
extern tensor<float, batch, past, kv_heads, d_k> k_of_others;

}  // namespace demo

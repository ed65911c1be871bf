// tests/fuzz/dims.hpp -- the dimensions of the random formulas.
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "compare.hpp"

namespace fuzz {

// NOLINTNEXTLINE(google-build-using-namespace): formulas are written as users write them
using namespace dimwise;

struct batch : batch_dim<> {};
struct seq : position_dim<> {};
struct key : prime<seq> {};
struct source_position : position_dim<> {};
struct heads : heads_dim<> {};
struct group : heads_dim<> {};
struct other_heads : prime<heads> {};
struct d_model : feature_dim<> {};
struct d_ff : feature_dim<> {};
struct d_k : feature_dim<> {};
struct d_v : feature_dim<> {};
struct vocab : choice_dim<> {};
struct best : choice_dim<> {};
struct distance : feature_dim<> {};
struct text : packed_dim<> {};
struct text_key : prime<text> {};

}  // namespace fuzz

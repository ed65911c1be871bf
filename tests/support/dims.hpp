// tests/support/dims.hpp -- the dimensions of the value tests: every kind, with static and with run-time extents.
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/dimwise.hpp>

namespace dims {

struct batch : dimwise::batch_dim<> {};
struct seq : dimwise::position_dim<> {};
struct key : dimwise::prime<seq> {};
struct source : dimwise::position_dim<> {};  // positions of another sequence
struct vocab : dimwise::choice_dim<> {};

struct d_model : dimwise::feature_dim<12> {};
struct heads : dimwise::heads_dim<3> {};
struct d_k : dimwise::divided<d_model, heads> {};
struct d_v : dimwise::divided<d_model, heads> {};

// The same with extents known when the program runs.
struct width : dimwise::feature_dim<> {};
struct branches : dimwise::heads_dim<> {};
struct narrow : dimwise::divided<width, branches> {};

struct pair : dimwise::batch_dim<2> {};
struct four : dimwise::position_dim<4> {};
struct four_keys : dimwise::prime<four> {};
struct single : dimwise::position_dim<1> {};

}  // namespace dims

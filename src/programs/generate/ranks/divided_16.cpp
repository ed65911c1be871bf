// src/programs/generate/ranks/divided_16.cpp -- dimwise-generate with MPI: decoders with weights of 16 bits, of which
// each rank has a part of every layer.
// SPDX-License-Identifier: BSL-1.0
#include "divided.hpp"

namespace programs {

template const bool reads_parted_decoders<dimwise::bfloat16>;
template const bool reads_parted_decoders<dimwise::float16>;

}  // namespace programs

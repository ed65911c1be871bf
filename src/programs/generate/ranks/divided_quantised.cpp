// src/programs/generate/ranks/divided_quantised.cpp -- dimwise-generate with MPI: decoders with weights of 8 or 4 bits,
// of which each rank has a part of every layer.
// SPDX-License-Identifier: BSL-1.0
#include "divided.hpp"

namespace programs {

template const bool reads_parted_decoders<dimwise::nn::int8_blocks>;
template const bool reads_parted_decoders<dimwise::nn::int4_blocks>;

}  // namespace programs

// src/programs/generate/ranks/divided.cpp -- dimwise-generate with MPI: decoders with weights of float, of which each
// rank has a part of every layer.
// SPDX-License-Identifier: BSL-1.0
#include "divided.hpp"

namespace programs {

template const bool reads_parted_decoders<float>;

}  // namespace programs

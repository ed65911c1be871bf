// tests/ranks/mpi/attention.hpp -- ring attention and shared KV caches on the ranks of a program.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/ranks/messages/communicator.hpp>

/// Throws if a result differs from that of one rank.
void check_attention(const dimwise::ranks::communicator& world);

// src/programs/predict/measure.hpp -- the rates of this machine: products, attention, memory and messages, of the ranks
// that run the program, all at once.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "forecast.hpp"
#include <dimwise/ranks/messages/communicator.hpp>

namespace prediction {

/// Measures for about eight times `seconds` with products of the model's sizes. Every rank calls it; the result is
/// that of the slowest rank. With one rank, `near` is not measured: it is the memory's.
[[nodiscard]] machine measure_machine(const model& sizes, const dimwise::ranks::communicator& world, double seconds);

}  // namespace prediction

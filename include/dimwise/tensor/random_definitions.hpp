// SPDX-License-Identifier: BSL-1.0
// dimwise/tensor/random_definitions.hpp -- the engine of random numbers, compiled once in the library.
//
// Layer: tensor.
// Tests: tests/tensor/random.test.cpp
#pragma once

#include <dimwise/tensor/random.hpp>

#include <random>

namespace dimwise::detail {

struct random_numbers::engine {
  std::mt19937_64 of;
};

DIMWISE_DETAIL_LIBRARY random_numbers::random_numbers(std::uint64_t seed)
    : engine_(new engine{std::mt19937_64(seed)}) {}
DIMWISE_DETAIL_LIBRARY random_numbers::random_numbers(const random_numbers& from)
    : engine_(new engine(*from.engine_)), at_(from.at_), made_(from.made_) {}
DIMWISE_DETAIL_LIBRARY random_numbers& random_numbers::operator=(const random_numbers& from) {
  *engine_ = *from.engine_;
  at_ = from.at_;
  made_ = from.made_;
  return *this;
}
DIMWISE_DETAIL_LIBRARY random_numbers::~random_numbers() { delete engine_; }

DIMWISE_DETAIL_LIBRARY void random_numbers::refill() {
  for (std::uint64_t& one : made_) { one = engine_->of(); }
  at_ = 0;
}

}  // namespace dimwise::detail

// SPDX-License-Identifier: BSL-1.0
// dimwise/nn/parameters/distributions.hpp -- what weights are drawn from: xavier_uniform, xavier_normal, normal.
//
// Layer: nn. A function object of your own works, too: it gets the number of inputs and outputs of each weight.
// Tests: tests/nn/parameters.test.cpp
#pragma once

#include <dimwise/support/math.hpp>
#include <dimwise/tensor/random.hpp>

#include <cstddef>
#include <cstdint>

namespace dimwise::nn {

/// The random number generator; uniform numbers are identical on every machine.
using random = dimwise::detail::random_numbers;

/// Weights uniform within ±gain·√(6 / (inputs + outputs)) (Glorot and Bengio 2010, equation 16).
class xavier_uniform {
 public:
  /// Equal seeds give equal weights on every machine.
  explicit xavier_uniform(std::uint64_t seed, double gain = 1) : random_(seed), gain_(gain) {}
  [[nodiscard]] double operator()(std::size_t inputs, std::size_t outputs) {
    return gain_ * dimwise::detail::math::sqrt(6.0 / static_cast<double>(inputs + outputs)) *
           (2 * random_.uniform() - 1);
  }

 private:
  random random_;
  double gain_;
};

/// Weights normal with standard deviation gain·√(2 / (inputs + outputs)) (Glorot and Bengio 2010).
class xavier_normal {
 public:
  /// Equal seeds give equal weights on one machine; the last digits may differ on another.
  explicit xavier_normal(std::uint64_t seed, double gain = 1) : random_(seed), gain_(gain) {}
  [[nodiscard]] double operator()(std::size_t inputs, std::size_t outputs) {
    return gain_ * dimwise::detail::math::sqrt(2.0 / static_cast<double>(inputs + outputs)) * random_.normal();
  }

 private:
  random random_;
  double gain_;
};

/// Normal weights with one standard deviation for all parameters: 0.02 in GPT-2.
class normal {
 public:
  /// Equal seeds give equal weights on one machine; the last digits may differ on another.
  explicit normal(std::uint64_t seed, double deviation = 0.02) : random_(seed), deviation_(deviation) {}
  [[nodiscard]] double operator()(std::size_t, std::size_t) { return deviation_ * random_.normal(); }

 private:
  random random_;
  double deviation_;
};

}  // namespace dimwise::nn

// tests/conformance/architectures/low_precision.cpp -- weights moved by half a step of a format of low precision, and
// the comparison with them.
// SPDX-License-Identifier: BSL-1.0
#include "low_precision.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <sstream>
#include <stdexcept>

namespace conformance {

namespace io = dimwise::io;

namespace {

std::vector<float> floats(const io::stored_array& from) {
  const bool halves = from.type == io::element_type::bf16;
  if (!halves && from.type != io::element_type::f32) {
    throw std::runtime_error(from.name + ": holds " + std::string(io::name_of(from.type)) +
                             ", F32 or BF16 was expected");
  }
  std::vector<float> all(from.bytes.size() / (halves ? 2 : 4));
  for (std::size_t i = 0; i < all.size(); ++i) {
    dimwise::bfloat16 half{};
    if (halves) {
      std::memcpy(&half, from.bytes.data() + 2 * i, 2);
      all[i] = static_cast<float>(half);
    } else {
      std::memcpy(&all[i], from.bytes.data() + 4 * i, 4);
    }
  }
  return all;
}
double distance(std::span<const float> x, std::span<const float> y) {
  double squares = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    squares += std::pow(static_cast<double>(x[i]) - static_cast<double>(y[i]), 2);
  }
  return std::sqrt(squares);
}

}  // namespace

io::archive moved(const io::archive& from, low_precision format) {
  io::archive all(from.title());
  std::mt19937 draw;  // the same directions each time
  for (const io::stored_array& a : from.arrays()) {
    std::vector<float> values = floats(a);
    constexpr std::size_t block = 32;
    for (std::size_t first = 0; a.extents.size() > 1 && first < values.size(); first += block) {
      const auto part = std::span(values).subspan(first, std::min(block, values.size() - first));
      float largest = 0;
      for (const float x : part) { largest = std::max(largest, std::abs(x)); }
      for (float& x : part) {
        const float half_step = format == low_precision::bfloat16 ? x / 256 : largest / 254;
        x += (draw() & 1U) != 0 ? half_step : -half_step;
      }
    }
    const auto* const bytes = reinterpret_cast<const std::byte*>(values.data());
    const auto own = std::make_shared<const std::vector<std::byte>>(bytes, bytes + 4 * values.size());
    all.add({a.name, io::element_type::f32, a.extents, *own, own});
  }
  return all;
}

void expect_near(run& r, std::span<const float> found, std::span<const float> exact, std::span<const float> moved,
                 low_precision format) {
  const std::string name = format == low_precision::bfloat16 ? "bfloat16" : "int8";
  if (found.size() != exact.size() || moved.size() != exact.size()) {
    r.differs("with weights in " + name + ": " + std::to_string(found.size()) + " values, " +
              std::to_string(exact.size()) + " were expected");
    return;
  }
  const double error = distance(found, exact);
  const double bound = 2 * distance(moved, exact);
  if (error <= bound && error > bound / 100) { return; }  // not if it is NaN
  std::ostringstream line;
  line << "with weights in " << name << ": the error " << error << " is not between " << bound / 100 << " and " << bound
       << ", that of operands moved by half a step";
  r.differs(line.str());
}

}  // namespace conformance

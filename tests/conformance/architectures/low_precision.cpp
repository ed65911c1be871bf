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

template <class T>
std::vector<float> floats_of(std::span<const std::byte> bytes) {
  std::vector<float> all(bytes.size() / sizeof(T));
  for (std::size_t i = 0; i < all.size(); ++i) {
    T one{};
    std::memcpy(&one, bytes.data() + sizeof(T) * i, sizeof(T));
    all[i] = static_cast<float>(one);
  }
  return all;
}
std::vector<float> floats(const io::stored_array& from) {
  switch (from.type) {
    case io::element_type::f32:
      return floats_of<float>(from.bytes);
    case io::element_type::bf16:
      return floats_of<dimwise::bfloat16>(from.bytes);
    case io::element_type::f16:
      return floats_of<dimwise::float16>(from.bytes);
    default:
      throw std::runtime_error(from.name + ": holds " + std::string(io::name_of(from.type)) +
                               ", F32, F16 or BF16 was expected");
  }
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
    // A copy, such as a stored output that is tied, is moved as the array before it.
    const io::stored_array& same = *std::find_if(from.arrays().begin(), from.arrays().end(), [&](const auto& one) {
      return one.type == a.type && one.extents == a.extents && std::ranges::equal(one.bytes, a.bytes);
    });
    if (&same != &a) {
      io::stored_array copy = *all.find(same.name);
      copy.name = a.name;
      all.add(std::move(copy));
      continue;
    }
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

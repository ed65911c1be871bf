// SPDX-License-Identifier: BSL-1.0
// Uses `cube`, which tests/half_way/check.py adds with its kernels: header-only, so that these are compiled.
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

#include <cmath>

namespace {
struct wide : dimwise::feature_dim<32> {};
}  // namespace

int main() {
  using namespace dimwise;
  tensor<float, wide> x;
  x.fill(3);
  const auto cubed = [](const auto& m) { return sum<wide>(cube(m)); };
  const tensor<float, wide> y = cube(x);
  if (y(id<wide>(7)) != 27) { return 1; }
  return std::abs(gradient(x, cubed)(id<wide>(7)) - 27) < 1e-4F ? 0 : 2;
}

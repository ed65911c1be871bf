// SPDX-License-Identifier: BSL-1.0
// Uses `running_product`, which tests/half_way/check.py adds.
#define DIMWISE_PLAIN_ONLY
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

#include <cmath>

namespace {
struct row : dimwise::position_dim<4> {};
struct key : dimwise::position_dim<3> {};
}  // namespace

int main() {
  using namespace dimwise;
  const tensor<float, row, key> x({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  const tensor<float, row, key> y = running_product<key>(x);
  if (y(id<row>(3), id<key>(2)) != 1320 || y(id<row>(1), id<key>(0)) != 4) { return 1; }
  const tensor<float, row, key> weights = running_product<key>(softmax<key>(x));  // marked
  if (!(weights(id<row>(0), id<key>(2)) < 0.1F)) { return 2; }
  const auto loss = [](const auto& m) { return sum<row, key>(running_product<key>(m)); };
  const auto g = gradient(x, loss);
  // 10 + 10·11 + 10·11·12, by the second of them
  if (std::abs(g(id<row>(3), id<key>(1)) - 130) > 1e-3F) { return 3; }
  return check_gradient(tensor<double, row, key>(x), loss).error < 1e-8 ? 0 : 4;
}

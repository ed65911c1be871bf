// SPDX-License-Identifier: BSL-1.0
// Uses `product`, which tests/half_way/check.py adds.
#define DIMWISE_PLAIN_ONLY
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

#include <cmath>

namespace {
struct row : dimwise::position_dim<3> {};
struct key : dimwise::position_dim<4> {};
}  // namespace

int main() {
  using namespace dimwise;
  const tensor<float, row, key> x({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  const tensor<float, row> y = product<key>(x);
  if (y(id<row>(0)) != 24) { return 1; }
  const tensor<float, row> weights = product<key>(softmax<key>(x));  // marked
  if (!(weights(id<row>(0)) < 0.1F)) { return 2; }
  const auto loss = [](const auto& m) { return sum<row>(product<key>(m)); };
  if (std::abs(gradient(x, loss)(id<row>(0), id<key>(1)) - 12) > 1e-4F) { return 3; }
  return check_gradient(tensor<double, row, key>(x), loss).error < 1e-8 ? 0 : 4;
}

// A user's whole program: single-head attention of three positions over two, with nothing but dimwise included.
// SPDX-License-Identifier: BSL-1.0
#include <dimwise/dimwise.hpp>
#include <dimwise/version.hpp>

#include <cmath>
#include <cstdio>

static_assert(DIMWISE_VERSION_MAJOR == 0 && DIMWISE_VERSION_MINOR == 1);

namespace user {

struct seq : dimwise::position_dim<> {};
struct key : dimwise::prime<seq> {};
struct d_k : dimwise::feature_dim<4> {};
struct d_v : dimwise::feature_dim<2> {};

}  // namespace user

int main() {
  using namespace user;
  dimwise::tensor<float, seq, d_k> q(seq{3});
  dimwise::tensor<float, key, d_k> k(key{2});
  dimwise::tensor<float, key, d_v> v(key{2});
  for (std::size_t i = 0; i < q.size(); ++i) q.data()[i] = 1.0F;
  for (std::size_t i = 0; i < k.size(); ++i) k.data()[i] = 2.0F;  // all keys alike: every weight is 1/2
  for (std::size_t i = 0; i < v.size(); ++i) v.data()[i] = static_cast<float>(i);

  auto a = dimwise::softmax<key>(dimwise::scores<d_k>(q, k));
  dimwise::tensor<float, seq, d_v> y = dimwise::contract<key>(a, v);

  std::printf("%g %g\n", static_cast<double>(y.data()[0]), static_cast<double>(y.data()[1]));
  return y.size() == 6 && std::abs(y.data()[0] - 1.0F) < 1e-6F && std::abs(y.data()[1] - 2.0F) < 1e-6F ? 0 : 1;
}

// tests/odr/attention.hpp -- one computation that two translation units instantiate: the linker keeps one of each, and
// a function that lacks `inline`, or differs between the two, shows. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/dimwise.hpp>

#include <cstddef>

namespace odr {

struct seq : dimwise::position_dim<> {};
struct key : dimwise::prime<seq> {};
struct d_k : dimwise::feature_dim<4> {};
struct d_v : dimwise::feature_dim<2> {};

inline double attention() {
  dimwise::tensor<float, seq, d_k> q(seq{3});
  dimwise::tensor<float, key, d_k> k(key{3});
  dimwise::tensor<float, key, d_v> v(key{3});
  for (std::size_t i = 0; i < q.size(); ++i) q.data()[i] = static_cast<float>(i % 5) / 5;
  for (std::size_t i = 0; i < k.size(); ++i) k.data()[i] = static_cast<float>(i % 3) / 3;
  for (std::size_t i = 0; i < v.size(); ++i) v.data()[i] = static_cast<float>(i);
  dimwise::tensor<float, seq, d_v> y = dimwise::contract<key>(dimwise::softmax<key>(dimwise::scores<d_k>(q, k)), v);
  double total = 0;
  for (std::size_t i = 0; i < y.size(); ++i) total += static_cast<double>(y.data()[i]);
  return total;
}

double attention_of_the_other_file();

}  // namespace odr

// tests/nn/modules.hpp -- dimensions of the modules' tests, and formulas in loops over double to compare with.
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "support/numbers.hpp"

namespace modules {

using namespace dimwise;
using namespace dimwise_test;

struct batch : batch_dim<> {};
struct seq : position_dim<> {};
struct key : prime<seq> {};
struct src : position_dim<> {};
struct src_key : prime<src> {};
struct vocab : choice_dim<7> {};
struct d_model : feature_dim<8> {};
struct hidden : feature_dim<12> {};
struct inner : feature_dim<5> {};
struct heads : heads_dim<2> {};
struct kv_heads : heads_dim<2> {};
struct group : heads_dim<3> {};
struct d_k : divided<d_model, heads> {};
struct d_v : feature_dim<3> {};

// A module whose every parameter is drawn, biases and scales too.
template <class M>
M drawn_module(unsigned seed, M m = {}) {
  unsigned next = seed;
  nn::for_each_parameter(m, [&](const std::string&, auto& t) {
    std::vector<float> values(t.size());
    for (std::size_t i = 0; i < values.size(); ++i) { values[i] = static_cast<float>(drawn_number(i, next) / 2); }
    ++next;
    t.assign(values);
  });
  return m;
}

// Both ways to compute agree with `exact`, each evaluation of the module on its own: modules return tensors.
template <class F, std::size_t Rank, class Exact>
std::string module_agrees(F call, const std::size_t (&extents)[Rank], double roundings, Exact exact) {
  const auto wanted = std::to_array(extents);
  const std::string fast = differences(call(), wanted, float32(roundings), exact);
  if (!fast.empty()) { return "fast: " + fast; }
  const dimwise::plain_loops only;
  const std::string plain = differences(call(), wanted, float32(roundings), exact);
  return plain.empty() ? "" : "plain: " + plain;
}

}  // namespace modules

// tests/ranks/training/gradient_checks.hpp -- the gradient of layers that ranks divide, against one rank, bit for bit,
// on any backend.
//
// All numbers are small whole numbers, so that sums are exact in any order.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "ranks/checks.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>
#include <dimwise/ranks/collectives.hpp>

#include <cstddef>
#include <tuple>

namespace rank_checks {

namespace on_ranks {

struct batch : dimwise::batch_dim<> {};
struct seq : dimwise::position_dim<> {};
struct d_model : dimwise::feature_dim<3> {};
struct hidden : dimwise::feature_dim<> {};
struct tp : dimwise::mesh_axis<> {};
using hidden_here = dimwise::shard<hidden, tp>;
using seq_here = dimwise::shard<seq, tp>;

}  // namespace on_ranks

// Rows `first` to `first + n` of a whole of rows with three elements.
template <class Tensor>
Tensor rows_from(Tensor x, std::size_t first, std::size_t seed) {
  float* const elements = x.data();
  for (std::size_t i = 0; i < x.size(); ++i) {
    elements[i] = static_cast<float>((first * 3 + i + seed) * 2654435761U >> 9U & 1U) * 2 - 1;
  }
  x.seal();
  return x;
}
template <class Part, class Whole>
bool is_part(const Part& part, const Whole& whole, std::size_t first) {
  bool all = true;
  for (std::size_t i = 0; i < part.size(); ++i) { all = all && part.values()[i] == whole.values()[first * 3 + i]; }
  return all;
}

// Parts of positions between the layers, parts of features inside; a whole gain that meets both.
inline void check_gradients(const ranks::communicator& world) {
  using namespace dimwise;
  using namespace on_ranks;
  const std::size_t positions = 5, width = 6;
  const auto x = rows_from(tensor<float, seq, d_model>(seq{positions}), 0, 1);
  const auto up = rows_from(tensor<float, hidden, d_model>(hidden{width}), 0, 2);
  const auto down = rows_from(tensor<float, hidden, d_model>(hidden{width}), 0, 3);
  const auto gain = rows_from(tensor<float, d_model>(), 0, 4);
  const auto expected = value_and_gradient(std::tuple(x, up, down, gain), [&](const auto& m) {
    const auto& [in, w1, w2, g] = m;
    const tensor u = in * g;
    const tensor y = u + contract<hidden>(relu(contract<d_model>(u, w1)), w2) * g;
    return sum<seq, d_model>(square(y)) + sum<d_model>(g * 3);
  });
  const ranks::mesh grid(world, tp{world.size()});
  const seq_here rows = part_here<seq_here>(seq{positions}, world.rank(), world.size());
  const hidden_here features = part_here<hidden_here>(hidden{width}, world.rank(), world.size());
  const std::size_t first_row = static_cast<std::size_t>(rows.origin());
  const std::size_t first = world.rank() * (width / world.size()) + std::min(world.rank(), width % world.size());
  const auto model = std::tuple(rows_from(tensor<float, seq_here, d_model>(rows), first_row, 1),
                                rows_from(tensor<float, hidden_here, d_model>(features), first, 2),
                                rows_from(tensor<float, hidden_here, d_model>(features), first, 3), gain);
  const auto [value, gradient] = value_and_gradient(model, [&](const auto& m) {
    const auto& [in, w1, w2, g] = m;
    const tensor u = in * g;
    const tensor all = all_gather<tp, seq>(u, grid);
    const tensor y = u + reduce_scatter<tp, seq>(contract<hidden_here>(relu(contract<d_model>(all, w1)), w2), grid) * g;
    return all_reduce<tp>(sum<seq_here, d_model>(square(y)), grid) + sum<d_model>(g * 3);
  });
  expect(value == expected.value, "the loss");
  expect(is_part(std::get<0>(gradient), std::get<0>(expected.gradient), first_row), "the gradient of the positions");
  expect(is_part(std::get<1>(gradient), std::get<1>(expected.gradient), first), "the gradient of the first weight");
  expect(is_part(std::get<2>(gradient), std::get<2>(expected.gradient), first), "the gradient of the second weight");
  expect(is_part(std::get<3>(gradient), std::get<3>(expected.gradient), 0), "the gradient of the whole gain");
}

}  // namespace rank_checks

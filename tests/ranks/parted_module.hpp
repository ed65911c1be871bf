// tests/ranks/parted_module.hpp -- a module with parameters that ranks divide in blocks, in stripes and by heads, and
// each rank's part of it.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/io.hpp>
#include <dimwise/nn/layers/linear.hpp>
#include <dimwise/nn/layers/norm.hpp>
#include <dimwise/ranks/checkpoint.hpp>

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <vector>

namespace parted {

using namespace dimwise;

struct d_model : feature_dim<6> {};
struct d_k : feature_dim<3> {};
struct heads : heads_dim<4> {};
struct hidden : feature_dim<> {};
struct rows : position_dim<> {};
struct dp : mesh_axis<> {};
template <std::size_t N>
struct tp : mesh_axis<N> {};

template <class Heads, class Hidden, class Rows>
struct module_of {
  using heads_here = Heads;
  using hidden_here = Hidden;
  using rows_here = Rows;
  using query_type = nn::linear<nn::from<d_model>, nn::to<Heads, d_k>>;
  using up_type = tensor<float, d_model, Hidden>;
  using down_type = tensor<float, Hidden, d_model>;
  using flat_type = tensor<double, d_model, merged<Heads, d_k>>;
  using table_type = tensor<float, Rows, d_model>;
  using norm_type = nn::layer_norm<d_model>;
  query_type query{};
  up_type up{};
  up_type gate{};
  down_type down{};
  flat_type flat{};
  table_type table{};
  norm_type norm{};
  using members = nn::member_list<&module_of::query, &module_of::up, &module_of::gate, &module_of::down,
                                  &module_of::flat, &module_of::table, &module_of::norm>;
};
using whole_module = module_of<heads, hidden, rows>;
template <std::size_t N>
using part_module = module_of<shard<heads, tp<N>>, shard<hidden, tp<N>>, shard<rows, tp<N>, striped>>;

// An element for each parameter and index.
template <class T>
void number(T& to, std::size_t salt) {
  auto* const elements = to.data();
  for (std::size_t i = 0; i < to.size(); ++i) {
    elements[i] = static_cast<std::remove_reference_t<decltype(elements[0])>>(salt * 1000 + i) + 0.25F;
  }
  to.seal();
}
inline whole_module whole_module_of(std::size_t width, std::size_t length) {
  whole_module m;
  m.up = whole_module::up_type(hidden{width});
  m.gate = whole_module::up_type(hidden{width});
  m.down = whole_module::down_type(hidden{width});
  m.table = whole_module::table_type(rows{length});
  number(m.query.weight, 1);
  number(m.query.bias, 2);
  number(m.up, 3);
  number(m.gate, 4);
  number(m.down, 5);
  number(m.flat, 6);
  number(m.table, 7);
  number(m.norm.gamma, 8);
  number(m.norm.beta, 9);
  return m;
}

// The elements of `from` at [outer][first + distance * i][inner], i < extent, as the elements of `to`.
template <class Whole, class Part>
void take(const Whole& from, Part& to, std::size_t outer, std::size_t whole, std::size_t first, std::size_t distance,
          std::size_t extent) {
  const std::size_t inner = from.size() / outer / whole;
  auto* elements = to.data();
  for (std::size_t o = 0; o < outer; ++o) {
    for (std::size_t i = 0; i < extent; ++i) {
      const auto* const row = from.values().data() + (o * whole + first + distance * i) * inner;
      elements = std::copy(row, row + inner, elements);
    }
  }
  to.seal();
}

// The part of rank `rank`.
template <std::size_t N>
part_module<N> part_of(const whole_module& from, std::size_t rank, std::integral_constant<std::size_t, N>) {
  using part = part_module<N>;
  part to;
  const std::size_t width = from.down.size() / 6;
  const std::size_t length = from.table.size() / 6;
  const std::size_t before = rank * (width / N) + std::min(rank, width % N);
  const std::size_t here = width / N + (rank < width % N ? 1 : 0);
  const std::size_t stripes = length / N + (rank < length % N ? 1 : 0);
  to.up = typename part::up_type(typename part::hidden_here{here});
  to.gate = typename part::up_type(typename part::hidden_here{here});
  to.down = typename part::down_type(typename part::hidden_here{here});
  to.table = typename part::table_type(typename part::rows_here{stripes});
  take(from.query.weight, to.query.weight, 6, 4, rank * (4 / N), 1, 4 / N);
  take(from.query.bias, to.query.bias, 1, 4, rank * (4 / N), 1, 4 / N);
  take(from.up, to.up, 6, width, before, 1, here);
  take(from.gate, to.gate, 6, width, before, 1, here);
  take(from.down, to.down, 1, width, before, 1, here);
  take(from.flat, to.flat, 6, 4, rank * (4 / N), 1, 4 / N);
  take(from.table, to.table, 1, length, rank, N, stripes);
  to.norm = from.norm;
  return to;
}

template <class M, class F>
void each_tensor(M& m, const F& f) {
  f(m.query.weight);
  f(m.query.bias);
  f(m.up);
  f(m.gate);
  f(m.down);
  f(m.flat);
  f(m.table);
  f(m.norm.gamma);
  f(m.norm.beta);
}
template <class M>
void clear(M& m) {
  each_tensor(m, [](auto& t) {
    auto* const elements = t.data();
    std::fill(elements, elements + t.size(), 0);
    t.seal();
  });
}
template <class M>
bool same(const M& a, const M& b) {
  std::vector<double> of_a;
  std::vector<double> of_b;
  each_tensor(a, [&](const auto& t) { of_a.insert(of_a.end(), t.values().begin(), t.values().end()); });
  each_tensor(b, [&](const auto& t) { of_b.insert(of_b.end(), t.values().begin(), t.values().end()); });
  return of_a == of_b;
}

}  // namespace parted

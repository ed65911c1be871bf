// tests/ranks/training/gradients.test.cpp -- gradients through collectives, over threads (std::thread): 1, 2 and 4
// ranks give the gradients of the formula of one rank.
//
// All numbers are small whole numbers: every sum is exact in float, so gradients are equal in any order of additions.
// SPDX-License-Identifier: BSL-1.0
#include "ranks/on_threads.hpp"
#include "support/numbers.hpp"
#include "support/threads.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>
#include <dimwise/ranks/collectives.hpp>
#include <dimwise/ranks/threads.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <tuple>

namespace {

using namespace dimwise;
using rank_checks::on_threads;

struct batch : batch_dim<> {};
struct seq : position_dim<> {};
struct d_model : feature_dim<6> {};
struct hidden : feature_dim<> {};
struct tp : mesh_axis<> {};
struct dp : mesh_axis<> {};
struct pair : mesh_axis<2> {};

using hidden_here = shard<hidden, tp>;
using seq_here = shard<seq, tp>;
using batch_here = shard<batch, dp>;

// A feed-forward layer of which each rank has its part of the hidden features.
template <class T = float>
struct feed_forward_here {
  using up_type = tensor<T, d_model, hidden_here>;
  using down_type = tensor<T, hidden_here, d_model>;
  BOOST_HANA_DEFINE_STRUCT(feed_forward_here, (up_type, up), (down_type, down));
  template <operand X>
  auto operator()(const X& x, const ranks::mesh<tp>& grid) const {
    return all_reduce<tp>(contract<hidden_here>(relu(contract<d_model>(x, up)), down), grid);
  }
};
template <class T = float>
struct up_alone {
  using up_type = tensor<T, d_model, hidden_here>;
  BOOST_HANA_DEFINE_STRUCT(up_alone, (up_type, up));
  template <operand X>
  auto operator()(const X& x) const {
    return tensor(relu(contract<d_model>(x, up)));
  }
};

// -1, 0 or 1 for each element of a tensor.
float number_at(std::size_t tensor_number, std::size_t i, std::size_t j) {
  return static_cast<float>((((tensor_number * 31 + i) * 37 + j + 1) * 2654435761U >> 9U) % 3U) - 1;
}
// Rows and columns of a whole matrix.
struct matrix_part {
  std::size_t rows;
  std::size_t columns;
  std::size_t first_row = 0;
  std::size_t first_column = 0;
  std::size_t step = 1;  // from row to row
};
template <class Tensor>
Tensor filled(Tensor x, std::size_t tensor_number, const matrix_part& b) {
  REQUIRE(x.size() == b.rows * b.columns);
  float* const elements = x.data();
  for (std::size_t i = 0; i < b.rows; ++i) {
    for (std::size_t j = 0; j < b.columns; ++j) {
      elements[i * b.columns + j] = number_at(tensor_number, b.first_row + i * b.step, b.first_column + j);
    }
  }
  x.seal();
  return x;
}
// Whether a part has those elements of the whole.
template <class Part, class Whole>
bool is_block_of(const Whole& whole, std::size_t columns, const Part& part, const matrix_part& b) {
  if (part.size() != b.rows * b.columns) { return false; }
  for (std::size_t i = 0; i < b.rows; ++i) {
    for (std::size_t j = 0; j < b.columns; ++j) {
      const std::size_t at = (b.first_row + i * b.step) * columns + b.first_column + j;
      if (part.values()[i * b.columns + j] != whole.values()[at]) { return false; }
    }
  }
  return true;
}
template <class A, class B>
bool is_same(const A& a, const B& b) {
  return a.size() == b.size() && std::equal(a.values().begin(), a.values().end(), b.values().begin());
}

// The first element of the part of a rank, and its extent.
struct span_here {
  std::size_t first;
  std::size_t extent;
};
span_here part(std::size_t n, const ranks::communicator& along) {
  const std::size_t rank = along.rank(), count = along.size();
  return {rank * (n / count) + std::min(rank, n % count), n / count + (rank < n % count ? 1 : 0)};
}

// reduce_scatter to the parts S.
template <class S, class X, class Mesh>
auto scattered(const X& x, const Mesh& grid) {
  if constexpr (S::is_striped) {
    return reduce_scatter<typename S::shard_along, typename S::shard_of, striped>(x, grid);
  } else {
    return reduce_scatter<typename S::shard_along, typename S::shard_of>(x, grid);
  }
}

}  // namespace

TEST_CASE("a value that is used whole and by shards has the gradient of one rank, over threads" * support::threads) {
  for (const std::size_t width : {7U, 4U, 3U}) {
    CAPTURE(width);
    const auto x = filled(tensor<float, batch, d_model>(batch{3}), 1, {3, 6});
    const auto up = filled(tensor<float, d_model, hidden>(hidden{width}), 2, {6, width});
    const auto down = filled(tensor<float, hidden, d_model>(hidden{width}), 3, {width, 6});
    const auto gain = filled(tensor<float, d_model>(), 4, {1, 6});
    const auto expected = value_and_gradient(std::tuple(x, up, down, gain, gain), [&](const auto& m) {
      const auto& [in, w1, w2, g, unused] = m;
      const tensor u = in * g;
      const tensor y = u + contract<hidden>(relu(contract<d_model>(u, w1)), w2);
      return sum<batch, d_model>(y * y * g);
    });
    on_threads([&](const ranks::communicator& world) {
      const ranks::mesh grid(world, tp{world.size()});
      const std::size_t first = part(width, world).first, n = part(width, world).extent;
      const auto up_here = filled(tensor<float, d_model, hidden_here>(hidden_here{n}), 2, {6, n, 0, first});
      const auto down_here = filled(tensor<float, hidden_here, d_model>(hidden_here{n}), 3, {n, 6, first});
      const feed_forward_here<> layer{up_here, down_here};
      const auto check = [&](const char* way, const auto& loss) {
        CAPTURE(way);
        const auto [value, g] = value_and_gradient(std::tuple(x, layer, gain, gain), loss);
        CHECK(value == expected.value);
        CHECK(is_same(std::get<0>(g), std::get<0>(expected.gradient)));
        CHECK(is_block_of(std::get<1>(expected.gradient), width, std::get<1>(g).up, {6, n, 0, first}));
        CHECK(is_block_of(std::get<2>(expected.gradient), 6, std::get<1>(g).down, {n, 6, first}));
        CHECK(is_same(std::get<2>(g), std::get<3>(expected.gradient)));
        CHECK(is_same(std::get<3>(g), std::get<4>(expected.gradient)));
      };
      check("a stored value", [&](const auto& m) {
        const auto& [in, w, g, unused] = m;
        const tensor u = in * g;
        const tensor y = u + w(u, grid);
        return sum<batch, d_model>(y * y * g);
      });
      check("a formula that is not stored, and stored parts", [&](const auto& m) {
        const auto& [in, w, g, unused] = m;
        const auto u = in * g;
        const tensor h = relu(contract<d_model>(u, w.up));
        const tensor term = contract<hidden_here>(h, w.down);
        const tensor y = u + all_reduce<tp>(term, grid);
        return sum<batch, d_model>(y * y * g);
      });
      check("formulas with a written type", [&](const auto& m) {
        const auto& [in, w, g, unused] = m;
        const expr<tracked<float>, shape<batch, d_model>> u = in * g;
        const expr<tracked<float>, shape<batch, hidden_here>> h = relu(contract<d_model>(u, w.up));
        const expr<tracked<float>, shape<batch, d_model, partial<tp>>> term = contract<hidden_here>(h, w.down);
        const tensor y = u + all_reduce<tp>(term, grid);
        return sum<batch, d_model>(y * y * g);
      });
      check("a recomputed layer with its collective", [&](const auto& m) {
        const auto& [in, w, g, unused] = m;
        const tensor u = in * g;
        const tensor y = u + recomputed(w, u, grid);
        return sum<batch, d_model>(y * y * g);
      });
      check("a recomputed layer whose collective is outside", [&](const auto& m) {
        const auto& [in, w, g, unused] = m;
        const tensor u = in * g;
        const tensor h = recomputed(up_alone<tracked<float>>{w.up}, u);
        const tensor y = u + all_reduce<tp>(contract<hidden_here>(h, w.down), grid);
        return sum<batch, d_model>(y * y * g);
      });
    });
  }
}

TEST_CASE("gathered and scattered parts have the gradient of one rank, over threads" * support::threads) {
  const auto check = [](const auto& world, const auto& grid, auto axis, auto way, std::size_t n) {
    using M = decltype(axis);
    using S = typename decltype(way)::type;
    using H = shard<hidden, M>;
    const auto p = filled(tensor<float, seq, d_model>(seq{n}), 1, {n, 6});
    const auto w = filled(tensor<float, d_model>(), 2, {1, 6});
    const auto v = filled(tensor<float, d_model, hidden>(hidden{5}), 3, {6, 5});
    const auto back = filled(tensor<float, hidden, d_model>(hidden{5}), 4, {5, 6});
    const auto expected = value_and_gradient(std::tuple(p, w, v, back), [&](const auto& m) {
      const auto& [rows, gain, out, in] = m;
      const tensor scaled = rows * gain;
      const tensor z = contract<d_model>(scaled, out);
      const tensor y = contract<hidden>(z, in);
      return sum<seq, d_model>(square(scaled)) + sum<seq, hidden>(square(z)) + sum<seq, d_model>(y * scaled);
    });
    const S here = part_here<S>(seq{n}, world.rank(), world.size());
    const auto [first, columns] = part(5, world);
    const std::size_t step = S::is_striped ? world.size() : 1;
    const matrix_part rows{here.extent(), 6, static_cast<std::size_t>(here.origin()), 0, step};
    const auto p_here = filled(tensor<float, S, d_model>(here), 1, rows);
    const auto v_here = filled(tensor<float, d_model, H>(H{columns}), 3, {6, columns, 0, first});
    const auto back_here = filled(tensor<float, H, d_model>(H{columns}), 4, {columns, 6, first});
    const auto [value, g] = value_and_gradient(std::tuple(p_here, w, v_here, back_here), [&](const auto& m) {
      const auto& [part_of_rows, gain, out, in] = m;
      const tensor scaled = part_of_rows * gain;
      const tensor all = all_gather<M, seq>(scaled, grid);
      const tensor z = contract<d_model>(all, out);
      const tensor y = scattered<S>(tensor(contract<H>(z, in)), grid);
      return sum<seq, d_model>(square(all)) + all_reduce<M>(sum<seq, H>(square(z)), grid) +
             all_reduce<M>(sum<S, d_model>(y * scaled), grid);
    });
    CHECK(value == expected.value);
    CHECK(is_block_of(std::get<0>(expected.gradient), 6, std::get<0>(g), rows));
    CHECK(is_same(std::get<1>(g), std::get<1>(expected.gradient)));
    CHECK(is_block_of(std::get<2>(expected.gradient), 5, std::get<2>(g), {6, columns, 0, first}));
    CHECK(is_block_of(std::get<3>(expected.gradient), 6, std::get<3>(g), {columns, 6, first}));
  };
  for (const std::size_t n : {5U, 4U, 3U}) {
    CAPTURE(n);
    on_threads([&](const ranks::communicator& world) {
      check(world, ranks::mesh(world, tp{world.size()}), tp{}, std::type_identity<seq_here>{}, n);
    });
    ranks::run_threads(2, [&](const ranks::communicator& world) {
      check(world, ranks::mesh(world, pair{}), pair{}, std::type_identity<shard<seq, pair, striped>>{}, n);
    });
  }
}

TEST_CASE("exchanged parts have the gradient of one rank, over threads" * support::threads) {
  for (const std::size_t n : {5U, 2U}) {
    CAPTURE(n);
    const auto p = filled(tensor<float, seq, hidden, d_model>(seq{n}, hidden{7}), 1, {n, 42});
    const auto w = filled(tensor<float, d_model>(), 2, {1, 6});
    const auto expected = value_and_gradient(std::tuple(p, w), [&](const auto& m) {
      const tensor scaled = std::get<0>(m) * std::get<1>(m);
      return sum<seq, hidden, d_model>(scaled * scaled * std::get<1>(m)) + sum<seq, hidden, d_model>(scaled);
    });
    on_threads([&](const ranks::communicator& world) {
      const ranks::mesh grid(world, tp{world.size()});
      const auto [first, rows] = part(n, world);
      const seq_here here = part_here<seq_here>(seq{n}, world.rank(), world.size());
      const auto p_here = filled(tensor<float, seq_here, hidden, d_model>(here, hidden{7}), 1, {rows, 42, first});
      const auto [value, g] = value_and_gradient(std::tuple(p_here, w), [&](const auto& m) {
        const tensor scaled = std::get<0>(m) * std::get<1>(m);
        const tensor turned = all_to_all<tp, seq, hidden>(scaled, grid);  // seq hidden_here d_model
        return all_reduce<tp>(sum<seq, hidden_here, d_model>(turned * turned * std::get<1>(m)), grid) +
               all_reduce<tp>(sum<seq_here, hidden, d_model>(scaled), grid);
      });
      CHECK(value == expected.value);
      CHECK(is_block_of(std::get<0>(expected.gradient), 42, std::get<0>(g), {rows, 42, first}));
      CHECK(is_same(std::get<1>(g), std::get<1>(expected.gradient)));
    });
  }
}

TEST_CASE("the gradient of a permuted part goes back around the ring, over threads" * support::threads) {
  on_threads([&](const ranks::communicator& world) {
    const ranks::mesh grid(world, tp{world.size()});
    const std::size_t count = world.size();
    const auto [first, rows] = part(6, world);
    const seq_here here = part_here<seq_here>(seq{6}, world.rank(), count);
    const auto p = filled(tensor<float, seq_here, d_model>(here), 1, {rows, 6, first});
    tensor<float, d_model> w;
    w.fill(2);
    for (const std::ptrdiff_t by : {1, -1, 5}) {
      CAPTURE(by);
      const auto factor = static_cast<float>(world.rank() + 1);
      const auto [value, g] = value_and_gradient(std::tuple(p, w), [&](const auto& m) {
        const tensor scaled = std::get<0>(m) * std::get<1>(m);
        const tensor y = permute_ranks<tp>(scaled, by, grid);
        auto coming = start_permute_ranks<tp>(scaled, by, grid);
        const tensor z = coming.wait();
        return all_reduce<tp>(sum<seq_here, d_model>(y * z * factor), grid);
      });
      // Rank r + by multiplies what this rank has sent by r + by + 1.
      const auto ring = static_cast<std::ptrdiff_t>(count);
      const std::ptrdiff_t to = ((static_cast<std::ptrdiff_t>(world.rank()) + by) % ring + ring) % ring;
      CHECK(std::get<0>(g).size() == rows * 6);
      for (std::size_t i = 0; i < rows * 6; ++i) {
        CHECK(std::get<0>(g).values()[i] == 8 * p.values()[i] * static_cast<float>(to + 1));
      }
      for (std::size_t f = 0; f < 6; ++f) {
        float sum_of_all = 0;
        for (std::size_t r = 0; r < count; ++r) {
          const std::size_t at = r * (6 / count) + std::min(r, 6 % count), n = 6 / count + (r < 6 % count ? 1 : 0);
          const std::ptrdiff_t receiver = ((static_cast<std::ptrdiff_t>(r) + by) % ring + ring) % ring;
          for (std::size_t s = at; s < at + n; ++s) {
            const float element = number_at(1, s, f);
            sum_of_all += 4 * element * element * static_cast<float>(receiver + 1);
          }
        }
        CHECK(std::get<1>(g).values()[f] == sum_of_all);
      }
    }
  });
}

TEST_CASE("a broadcast value has its gradient on every rank, over threads" * support::threads) {
  on_threads([&](const ranks::communicator& world) {
    const ranks::mesh grid(world, tp{world.size()});
    const auto [first, rows] = part(5, world);
    const seq_here here = part_here<seq_here>(seq{5}, world.rank(), world.size());
    const auto x = filled(tensor<float, seq_here, d_model>(here), 1, {rows, 6, first});
    const auto w = filled(tensor<float, d_model>(), 2, {1, 6});
    const tensor g = gradient(w, [&](const auto& m) {
      const tensor same = broadcast_from<tp>(m * 2, world.size() - 1, grid);
      return all_reduce<tp>(sum<seq_here, d_model>(x * same), grid) + sum<d_model>(same);
    });
    for (std::size_t f = 0; f < 6; ++f) {
      float expected = 2;
      for (std::size_t s = 0; s < 5; ++s) { expected += 2 * number_at(1, s, f); }
      CHECK(g.values()[f] == expected);
    }
  });
}

TEST_CASE("values that are whole along two mesh axes, one or none have the gradient of one rank, over threads" *
          support::threads) {
  const auto x = filled(tensor<float, batch, d_model>(batch{5}), 1, {5, 6});
  const auto up = filled(tensor<float, d_model, hidden>(hidden{3}), 2, {6, 3});
  const auto down = filled(tensor<float, hidden, d_model>(hidden{3}), 3, {3, 6});
  const auto gain = filled(tensor<float, d_model>(), 4, {1, 6});
  const auto bias = filled(tensor<float, hidden>(hidden{3}), 5, {1, 3});
  const auto expected = value_and_gradient(std::tuple(up, down, gain, bias), [&](const auto& m) {
    const auto& [w1, w2, g, b] = m;
    const tensor twice = g * 2;
    const tensor u = x * twice;
    const tensor y = u * g + contract<hidden>(relu(contract<d_model>(u, w1) + b), w2) + g;
    return sum<batch, d_model>(square(y)) + sum<d_model>(square(twice)) + sum<d_model, hidden>(w1 * twice);
  });
  for (const std::size_t dps : {1U, 2U, 4U}) {
    for (const std::size_t tps : {1U, 2U}) {
      CAPTURE(dps);
      CAPTURE(tps);
      ranks::run_threads(dps * tps, [&](const ranks::communicator& world) {
        const ranks::mesh grid(world, dp{dps}, tp{tps});
        const auto [row, rows] = part(5, grid.along<dp>());
        const auto [column, columns] = part(3, grid.along<tp>());
        const hidden_here h{columns};
        const auto x_here = filled(tensor<float, batch_here, d_model>(batch_here{rows}), 1, {rows, 6, row});
        const auto up_here = filled(tensor<float, d_model, hidden_here>(h), 2, {6, columns, 0, column});
        const auto down_here = filled(tensor<float, hidden_here, d_model>(h), 3, {columns, 6, column});
        const auto bias_here = filled(tensor<float, hidden_here>(h), 5, {1, columns, 0, column});
        const auto [value, g] = value_and_gradient(std::tuple(up_here, down_here, gain, bias_here), [&](const auto& m) {
          const auto& [w1, w2, gg, b] = m;
          const tensor twice = gg * 2;  // whole: meets batch_here, hidden_here, both and neither
          const tensor u = x_here * twice;
          const tensor y =
              u * gg + all_reduce<tp>(contract<hidden_here>(relu(contract<d_model>(u, w1) + b), w2), grid) + gg;
          return all_reduce<dp>(sum<batch_here, d_model>(square(y)), grid) + sum<d_model>(square(twice)) +
                 all_reduce<tp>(sum<d_model, hidden_here>(w1 * twice), grid);
        });
        CHECK(value == expected.value);
        CHECK(is_block_of(std::get<0>(expected.gradient), 3, std::get<0>(g), {6, columns, 0, column}));
        CHECK(is_block_of(std::get<1>(expected.gradient), 6, std::get<1>(g), {columns, 6, column}));
        CHECK(is_same(std::get<2>(g), std::get<2>(expected.gradient)));
        CHECK(is_block_of(std::get<3>(expected.gradient), 3, std::get<3>(g), {1, columns, 0, column}));
      });
    }
  }
}

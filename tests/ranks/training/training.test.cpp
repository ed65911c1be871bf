// tests/ranks/training/training.test.cpp -- losses, gradients, norms, dropout and initial weights over ranks, over
// threads (std::thread). The steps of a GPT are in training_checks.hpp.
//
// SPDX-License-Identifier: BSL-1.0
#include "ranks/on_threads.hpp"
#include "support/threads.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>
#include <dimwise/nn.hpp>
#include <dimwise/ranks.hpp>
#include <dimwise/ranks/training.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

namespace {

using namespace dimwise;
using rank_checks::on_threads;

struct dp : mesh_axis<> {};
struct tp : mesh_axis<> {};
struct examples : batch_dim<> {};
using examples_here = shard<examples, dp>;
struct seq : position_dim<> {};
struct d_model : feature_dim<6> {};
struct hidden : feature_dim<> {};
using hidden_here = shard<hidden, tp>;
struct classes : choice_dim<5> {};
struct wide : feature_dim<300> {};
struct wider : feature_dim<1000> {};

template <class Tensor>
void draw(Tensor& to, std::uint64_t seed) {
  nn::random numbers(seed);
  auto* const elements = to.overwrite();
  for (std::size_t i = 0; i < to.size(); ++i) { elements[i] = static_cast<float>(numbers.normal()); }
}
template <class Tensor, class... E>
Tensor drawn(std::uint64_t seed, const E&... e) {
  Tensor t(e...);
  draw(t, seed);
  return t;
}
template <class A, class B>
bool same(const A& a, const B& b) {
  return a.size() == b.size() && std::equal(a.data(), a.data() + a.size(), b.data());
}
}  // namespace

TEST_CASE("a loss over a shard gives a rank's terms, and their sum is the gradient of one rank, over threads" *
          support::threads) {
  constexpr std::size_t each = 3;
  on_threads([](const ranks::communicator& world) {
    const ranks::mesh grid(world, dp{world.size()});
    const examples all{each * world.size()};
    const auto w = drawn<tensor<float, d_model>>(1);
    const auto part_of = [](std::size_t rank, auto batch) {
      return drawn<tensor<float, decltype(batch), d_model>>(10 + rank, batch);
    };
    const auto x = part_of(world.rank(), examples_here{each});
    const auto mine =
        value_and_gradient(w, [&](const auto& m) { return mean<examples_here>(square(contract<d_model>(x, m)), all); });
    static_assert(std::is_same_v<decltype(mine.value), tensor<float, partial<dp>>>);
    static_assert(std::is_same_v<decltype(mine.gradient), partial_gradient<tensor<float, d_model>, dp>>);
    // One rank computes the parts, and adds them in their order.
    tensor<float, d_model> expected;
    float loss = 0;
    for (std::size_t r = 0; r < world.size(); ++r) {
      const auto part = part_of(r, examples{each});
      const float factor = 1 / static_cast<float>(all.extent());
      const auto one = value_and_gradient(
          w, [&](const auto& m) { return sum<examples>(square(contract<d_model>(part, m))) * factor; });
      loss = r == 0 ? one.value : loss + one.value;
      expected = r == 0 ? one.gradient : tensor<float, d_model>(expected + one.gradient);
    }
    const auto both = all_reduce<dp>(mine, grid);
    CHECK(both.value == doctest::Approx(loss).epsilon(1e-6));
    for (std::size_t i = 0; i < expected.size(); ++i) {
      CHECK(both.gradient.data()[i] == doctest::Approx(expected.data()[i]).epsilon(1e-5));
    }
    CHECK(same(all_reduce<dp>(mine.gradient, grid), both.gradient));
    const auto during = value_and_gradient(
        w, [&](const auto& m) { return mean<examples_here>(square(contract<d_model>(x, m)), all); }, reduced<dp>(grid));
    CHECK(during.value == both.value);
    CHECK(same(during.gradient, both.gradient));
    const tensor<float> sum_of_terms = all_reduce<dp>(mine.value, grid);
    CHECK(*sum_of_terms.data() == both.value);
  });
}

TEST_CASE("ranks with 3 and 7 tokens have the mean over 10, over threads" * support::threads) {
  const auto w = drawn<tensor<float, d_model, classes>>(1);
  const auto inputs = [](std::size_t rank, auto batch) {
    return drawn<tensor<float, decltype(batch), seq, d_model>>(20 + rank, batch, seq{10});
  };
  const auto wanted_of = [](auto batch) {
    tensor<id<classes>, decltype(batch), seq> t(batch, seq{10});
    for (std::size_t i = 0; i < t.size(); ++i) { t.overwrite()[i] = id<classes>(i % 5); }
    return t;
  };
  const auto counted = [](std::size_t rank) { return rank == 0 ? std::size_t{3} : std::size_t{7}; };
  const auto mask_of = [&](std::size_t rank, auto batch) {
    tensor<bool, decltype(batch), seq> t(batch, seq{10});
    for (std::size_t i = 0; i < t.size(); ++i) { t.overwrite()[i] = i < counted(rank); }
    return t;
  };
  accumulated total(w);
  average<float, examples, seq> added;
  for (std::size_t r = 0; r < 2; ++r) {
    const auto x = inputs(r, examples{1});
    const auto y = wanted_of(examples{1});
    const auto counts = mask_of(r, examples{1});
    const auto loss = [&](const auto& m) { return cross_entropy<classes>(contract<d_model>(x, m), y, allow(counts)); };
    total.add(loss);
    added = r == 0 ? loss(w) : added + loss(w);
  }
  const auto expected = total.mean();
  CHECK(total.count() == 10);
  ranks::run_threads(2, [&](const ranks::communicator& world) {
    const ranks::mesh grid(world, dp{2});
    const auto x = inputs(world.rank(), examples_here{1});
    const auto y = wanted_of(examples_here{1});
    const auto counts = mask_of(world.rank(), examples_here{1});
    const auto loss = [&](const auto& m) { return cross_entropy<classes>(contract<d_model>(x, m), y, allow(counts)); };
    const auto both = all_reduce<dp>(value_and_gradient(w, loss), grid);
    CHECK(both.value == expected.value);
    CHECK(same(both.gradient, expected.gradient));
    const average<float, examples, seq> all = all_reduce<dp>(loss(w), grid);
    CHECK(all.count == 10);
    CHECK(all.value() == added.value());
  });
}

TEST_CASE("buckets are reduced while the backward pass goes on, over threads" * support::threads) {
  // Three parameters of more than a mebibyte, one after the other in the forward pass.
  using layer = tensor<float, wide, wider>;
  const std::tuple<layer, tensor<float, wider, wide>, layer> model{
      drawn<layer>(1), drawn<tensor<float, wider, wide>>(2), drawn<layer>(3)};
  on_threads([&](const ranks::communicator& world) {
    const ranks::mesh grid(world, dp{world.size()});
    const auto x = drawn<tensor<float, examples_here, wide>>(30 + world.rank(), examples_here{2});
    const auto loss = [&](const auto& m) {
      const auto& [a, b, c] = m;
      const tensor first = tanh(contract<wide>(x, a) * 0.05F);
      const tensor second = tanh(contract<wider>(first, b) * 0.05F);
      return sum<examples_here, wider>(square(contract<wide>(second, c)));
    };
    const auto after = all_reduce<dp>(value_and_gradient(model, loss), grid);
    const auto during = value_and_gradient(model, loss, reduced<dp>(grid));
    CHECK(detail::buckets_started_early() == 3);
    CHECK(during.value == after.value);
    CHECK(same(std::get<0>(during.gradient), std::get<0>(after.gradient)));
    CHECK(same(std::get<1>(during.gradient), std::get<1>(after.gradient)));
    CHECK(same(std::get<2>(during.gradient), std::get<2>(after.gradient)));
  });
}

TEST_CASE("a step with a wrong setting on one rank throws before it sends, and can be repeated, over threads" *
          support::threads) {
  ranks::run_threads(2, [](const ranks::communicator& world) {
    const ranks::mesh grid(world, dp{2});
    tensor<float, d_model> w;
    tensor<float, d_model> terms;
    terms.fill(static_cast<float>(world.rank() + 1));
    const partial_gradient<tensor<float, d_model>, dp> gradient{terms, 3, true};
    auto optimiser = sharded_sgd<dp>(w, {.rate = 1.0}, grid);
    if (world.rank() == 1) {
      optimiser.settings.rate = -1.0;
      CHECK_THROWS_AS(optimiser.step(w, gradient), number_error);
      optimiser.settings.rate = 1.0;
    }
    optimiser.step(w, gradient);
    for (const float one : w.values()) { CHECK(one == -0.5F); }
  }, {.checks = true});
}

TEST_CASE("terms that are sent in bfloat16 have the documented error, over threads" * support::threads) {
  on_threads([](const ranks::communicator& world) {
    const ranks::mesh grid(world, dp{world.size()});
    const auto term_of = [](std::size_t rank) { return drawn<tensor<float, wide>>(40 + rank); };
    const partial_gradient<tensor<float, wide>, dp> mine{term_of(world.rank())};
    const auto sum = all_reduce<dp>(mine, grid, gradient_format::bfloat16);
    bool is_rounded = false;
    for (std::size_t i = 0; i < sum.size(); ++i) {
      double exact = 0, sizes = 0;
      for (std::size_t r = 0; r < world.size(); ++r) {
        const auto terms = term_of(r);
        const auto term = static_cast<double>(terms.data()[i]);
        exact += term;
        sizes += std::abs(term);
      }
      const double error = std::abs(static_cast<double>(sum.data()[i]) - exact);
      CHECK(error <= sizes / 128);
      is_rounded = is_rounded || error > sizes * 1e-6;
    }
    CHECK(is_rounded);
    // The same bits on all ranks.
    std::vector<float> first(sum.data(), sum.data() + sum.size());
    world.broadcast(first.data(), first.size(), 0, "sum");
    CHECK(std::equal(first.begin(), first.end(), sum.data()));
  });
}

TEST_CASE("the norm counts each element of a divided parameter once, and whole parameters once, over threads" *
          support::threads) {
  for (const float size : {1.0F, 1e-30F, 1e30F}) {
    CAPTURE(size);
    on_threads([&](const ranks::communicator& world) {
      const ranks::mesh grid(world, tp{world.size()});
      const auto part_of = [&](std::size_t rank) {
        return tensor<float, hidden_here, d_model>(
            drawn<tensor<float, hidden_here, d_model>>(50 + rank, hidden_here{2 + rank}) * size);
      };
      const auto bias = tensor<float, d_model>(drawn<tensor<float, d_model>>(60) * size);
      const std::tuple model{part_of(world.rank()), bias};
      double squares = 0;
      const auto add = [&](const auto& t) {
        for (std::size_t i = 0; i < t.size(); ++i) {
          const double scaled = static_cast<double>(t.data()[i]) / static_cast<double>(size);
          squares += scaled * scaled;
        }
      };
      for (std::size_t r = 0; r < world.size(); ++r) { add(part_of(r)); }
      add(bias);
      const double norm = std::sqrt(squares) * static_cast<double>(size);
      CHECK(norm_of(model, grid) == doctest::Approx(norm).epsilon(1e-12));
      const auto clipped = clip_norm(model, norm / 2, grid);
      CHECK(norm_of(clipped, grid) == doctest::Approx(norm / 2).epsilon(size < 1 ? 1.0 : 1e-5));
    });
  }
}

TEST_CASE("dropout of a shard drops what one rank drops, over threads" * support::threads) {
  for (const std::size_t n : {8U, 7U}) {
    CAPTURE(n);
    tensor<float, examples, seq, hidden> whole(examples{n}, seq{3}, hidden{n});
    whole.fill(1);
    std::vector<float> expected;
    {
      const nn::dropout_seed seed(7);
      (void)value_and_gradient(whole, [&](const auto& m) {
        const tensor y = nn::dropout{0.4}(m);
        const tensor z = nn::dropout{0.4}(y);
        expected.assign(z.value().data(), z.value().data() + z.value().size());
        return sum<examples, seq, hidden>(z);
      });
    }
    ranks::run_threads(4, [&](const ranks::communicator& world) {
      const ranks::mesh grid(world, dp{2}, tp{2});
      const auto rows = part_here<examples_here>(examples{n}, grid.coordinate<dp>(), 2);
      const auto columns = part_here<hidden_here>(hidden{n}, grid.coordinate<tp>(), 2);
      tensor<float, examples_here, seq, hidden_here> part(rows, seq{3}, columns);
      part.fill(1);
      const std::size_t first_row = grid.coordinate<dp>() == 0 ? 0 : n - rows.extent();
      const std::size_t first_column = grid.coordinate<tp>() == 0 ? 0 : n - columns.extent();
      const nn::dropout_seed seed(7, grid, examples{n}, hidden{n});
      bool all_equal = true;
      (void)value_and_gradient(part, [&](const auto& m) {
        const tensor y = nn::dropout{0.4}(m);
        const tensor z = nn::dropout{0.4}(y);
        const float* at = z.value().data();
        for (std::size_t i = 0; i < rows.extent(); ++i) {
          for (std::size_t s = 0; s < 3; ++s) {
            for (std::size_t j = 0; j < columns.extent(); ++j) {
              all_equal = all_equal && *at++ == expected[((i + first_row) * 3 + s) * n + j + first_column];
            }
          }
        }
        return sum<examples_here, seq, hidden_here>(z);
      });
      CHECK(all_equal);
    });
  }
  // Without the mesh the part is unknown.
  tensor<float, examples_here> part(examples_here{2});
  const nn::dropout_seed seed(7);
  CHECK_THROWS_AS((void)value_and_gradient(part, [](const auto& m) { return sum<examples_here>(nn::dropout{0.5}(m)); }),
                  gradient_error);
}

TEST_CASE("dropout of a part of a part drops what one rank drops, over threads" * support::threads) {
  struct pair : mesh_axis<2> {};
  using in_parts = shard<hidden_here, pair>;
  using in_stripes = shard<hidden_here, pair, striped>;
  const auto dropped = []<class D>(const D& here) {
    tensor<float, seq, D> x(seq{3}, here);
    x.fill(1);
    std::vector<float> all;
    (void)value_and_gradient(x, [&](const auto& m) {
      const tensor y = nn::dropout{0.4}(m);
      all.assign(y.value().data(), y.value().data() + y.value().size());
      return sum<seq, D>(y);
    });
    return all;
  };
  for (const std::size_t n : {32U, 29U}) {
    CAPTURE(n);
    const std::vector<float> expected = [&] {
      const nn::dropout_seed seed(7);
      return dropped(hidden{n});
    }();
    ranks::run_threads(4, [&](const ranks::communicator& world) {
      const ranks::mesh grid(world, tp{2}, pair{});
      const std::size_t t = grid.coordinate<tp>(), p = grid.coordinate<pair>();
      const hidden_here outer = part_here<hidden_here>(hidden{n}, t, 2);
      const auto check = [&](const auto& part, std::size_t first, std::size_t step) {
        const nn::dropout_seed seed(7, grid, hidden{n});
        const std::vector<float> mine = dropped(part);
        for (std::size_t i = 0; i < mine.size(); ++i) {
          CHECK(mine[i] == expected[i / part.extent() * n + first + i % part.extent() * step]);
        }
      };
      const std::size_t begin = t == 0 ? 0 : n - outer.extent();
      const auto block = part_here<in_parts>(outer, p, 2);
      check(block, begin + (p == 0 ? 0 : outer.extent() - block.extent()), 1);
      check(part_here<in_stripes>(outer, p, 2), begin + p, 2);
    });
  }
}

TEST_CASE("the parts of one draw make up the draw, in blocks and in stripes, over threads" * support::threads) {
  struct fixed : mesh_axis<4> {};
  using in_stripes = shard<hidden, fixed, striped>;
  for (const std::size_t width : {8U, 7U, 3U}) {
    CAPTURE(width);
    const auto whole = random_normal<float, d_model, hidden>(random_seed{3}, hidden{width});
    on_threads([&](const ranks::communicator& world) {
      const ranks::mesh grid(world, tp{world.size()});
      const tensor<float, d_model, hidden_here> mine = part_of<hidden_here>(whole, grid);
      CHECK(mine.size() == 6 * part_here<hidden_here>(hidden{width}, world.rank(), world.size()).extent());
      const tensor<float, d_model, hidden> again = all_gather<tp, hidden>(mine, grid);
      CHECK(same(again, whole));
    });
    ranks::run_threads(4, [&](const ranks::communicator& world) {
      const ranks::mesh<fixed> grid(world);
      const tensor<float, d_model, in_stripes> mine = part_of<in_stripes>(whole, grid);
      for (std::size_t i = 0; i < mine.size() / 6; ++i) { CHECK(mine.data()[i] == whole.data()[world.rank() + 4 * i]); }
      const tensor<float, d_model, hidden> again = all_gather<fixed, hidden>(mine, grid);
      CHECK(same(again, whole));
    });
  }
}

namespace {

// Parameters of every kind, of which ranks divide the hidden features and the rows of the positions.
template <class Hidden, class Seq>
struct block {
  using positions_type = nn::learned_positions<Seq, d_model>;
  using up_type = nn::linear<nn::from<d_model>, nn::to<Hidden>>;
  using down_type = nn::linear<nn::from<Hidden>, nn::to<d_model>>;
  positions_type positions{};
  up_type up{};
  std::vector<tensor<float, Hidden>> scales = std::vector<tensor<float, Hidden>>(1);
  nn::layer_norm<d_model> norm{};
  down_type down{};
  using members = nn::member_list<&block::positions, &block::up, &block::scales, &block::norm, &block::down>;
};

// Whether a rank has its parts of the whole model, which one rank draws.
template <class Hidden, class Seq, class How, class Grid, class Part, class Rows>
void check_drawn(const How& first, const Grid& grid, const Part& part, const Rows& rows, std::size_t width) {
  How how = first, of_one = first;
  block<hidden, seq> whole;
  nn::initialise(whole, of_one, hidden{width}, seq{9});
  block<Hidden, Seq> mine;
  nn::initialise(mine, how, grid, hidden{width}, seq{9});
  CHECK(same(mine.positions.table, rows(whole.positions.table)));
  CHECK(same(mine.up.weight, part(whole.up.weight)));
  CHECK(same(mine.up.bias, part(whole.up.bias)));
  CHECK(same(mine.scales[0], part(whole.scales[0])));
  CHECK(same(mine.norm.gamma, whole.norm.gamma));
  CHECK(same(mine.down.weight, part(whole.down.weight)));
  CHECK(how(1, 1) == of_one(1, 1));  // the next module has the same numbers, too
}

}  // namespace

TEST_CASE("ranks that divide parameters draw those of one rank with the same seed, over threads" * support::threads) {
  using seq_here = shard<seq, tp>;
  for (const std::size_t width : {8U, 7U, 3U}) {
    CAPTURE(width);
    on_threads([&](const ranks::communicator& world) {
      const ranks::mesh grid(world, tp{world.size()});
      const auto part = [&](const auto& x) { return part_of<hidden_here>(x, grid); };
      const auto rows = [&](const auto& x) { return part_of<seq_here>(x, grid); };
      check_drawn<hidden_here, seq_here>(nn::xavier_uniform(3), grid, part, rows, width);
      check_drawn<hidden_here, seq_here>(nn::normal(3), grid, part, rows, width);
    });
  }
  // A part of a part: stripes of blocks.
  struct pair : mesh_axis<2> {};
  using in_stripes = shard<hidden_here, pair, striped>;
  ranks::run_threads(4, [&](const ranks::communicator& world) {
    const ranks::mesh grid(world, tp{2}, pair{});
    const auto part = [&](const auto& x) { return part_of<in_stripes>(part_of<hidden_here>(x, grid), grid); };
    const auto rows = [](const auto& x) { return x; };
    check_drawn<in_stripes, seq>(nn::xavier_uniform(5), grid, part, rows, 11);
  });
}

namespace {

struct features : feature_dim<64> {};

// Weights in blocks, of which ranks divide the outputs or the inputs. A block does not cross the end of a part.
template <class Kind, class Hidden>
struct in_blocks {
  using up_type = nn::linear<nn::from<features>, nn::to<Hidden>, nn::no_bias, Kind>;
  using down_type = nn::linear<nn::from<Hidden>, nn::to<features>, nn::no_bias, Kind>;
  up_type up{};
  down_type down{};
  using members = nn::member_list<&in_blocks::up, &in_blocks::down>;
};

template <class Kind>
void check_blocks() {
  using of_one = in_blocks<Kind, hidden>;
  const auto whole = nn::initialised<of_one>(nn::normal(9, 1), hidden{128});
  const tensor<float, hidden, features> up = whole.up.weight.dequantised();
  const tensor<float, features, hidden> down = whole.down.weight.dequantised();
  on_threads([&](const ranks::communicator& world) {
    const ranks::mesh grid(world, tp{world.size()});
    const auto mine = nn::initialised<in_blocks<Kind, hidden_here>>(nn::normal(9, 1), grid, hidden{128});
    const tensor<float, hidden_here, features> my_up = mine.up.weight.dequantised();
    const tensor<float, features, hidden_here> my_down = mine.down.weight.dequantised();
    CHECK(same(my_up, part_of<hidden_here>(up, grid)));
    CHECK(same(my_down, part_of<hidden_here>(down, grid)));
  });
}

// A module with a function of its own, which leaves drawing to its parameters.
template <class Hidden>
struct by_itself {
  tensor<float, Hidden> scales{};
  nn::linear<nn::from<d_model>, nn::to<Hidden>> up{};
  using members = nn::member_list<&by_itself::scales, &by_itself::up>;

  static constexpr bool passes_on = true;
  template <class How, class... Extents>
  void initialise_parameters(How& how, const Extents&... extents) {
    nn::initialise(up, how, extents...);
    nn::initialise(scales, how, extents...);
  }
};

}  // namespace

TEST_CASE("ranks draw the blocks of 8 and 4 bits that one rank draws, over threads" * support::threads) {
  check_blocks<nn::int8_blocks>();
  check_blocks<nn::int4_blocks>();
}

TEST_CASE("a divided module that initialises itself has the part of one rank's draw, over threads" * support::threads) {
  const nn::xavier_uniform first(6);
  nn::xavier_uniform of_one = first;
  const auto whole = nn::initialised<std::tuple<by_itself<hidden>, by_itself<hidden>>>(of_one, hidden{7});
  on_threads([&](const ranks::communicator& world) {
    const ranks::mesh grid(world, tp{world.size()});
    nn::xavier_uniform how = first, after = of_one;
    const auto mine = nn::initialised<std::tuple<by_itself<hidden_here>, by_itself<hidden_here>>>(how, grid, hidden{7});
    const auto check = [&](const auto& one, const auto& all) {
      CHECK(same(one.scales, part_of<hidden_here>(all.scales, grid)));
      CHECK(same(one.up.weight, part_of<hidden_here>(all.up.weight, grid)));
    };
    check(std::get<0>(mine), std::get<0>(whole));
    check(std::get<1>(mine), std::get<1>(whole));
    CHECK(how(1, 1) == after(1, 1));
  });
}

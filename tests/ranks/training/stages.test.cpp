// tests/ranks/training/stages.test.cpp -- a model whose layers are divided over ranks, over threads (std::thread):
// gradients and steps as of one rank, and what stages throw. The steps of a GPT are in stage_checks.hpp.
//
// SPDX-License-Identifier: BSL-1.0
#include "ranks/on_threads.hpp"
#include "stage_checks.hpp"
#include "support/threads.hpp"

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace dimwise;
using rank_checks::on_threads;

struct pp : mesh_axis<> {};
struct rows : batch_dim<> {};
struct wide : feature_dim<6> {};
struct narrow : feature_dim<4> {};
struct flat : feature_dim<24> {};

template <class T = float>
struct weights {
  using stage_along = pp;
  tensor<T, wide> gain{};
  using members = nn::member_list<&weights::gain>;
};
using passed = tensor<float, rows, wide>;

passed rows_of(std::size_t n) {
  passed x(rows{n});
  x.fill(1);
  return x;
}
auto batches(std::size_t count) {
  return micro_batches<passed>(count, [](const auto&, std::size_t i) { return rows_of(1 + i); },
                               [](const auto& m, const auto& x, std::size_t) {
    return x * m.gain;
  }, [](const auto&, const auto& x, std::size_t) { return mean_squared_error(x, rows_of(extent_of<rows>(x))); });
}
// A gain that several stages have.
template <class T = float, class M = pp>
struct tied_gain {
  using stage_along = M;
  using gain_type = tensor<T, wide>;
  std::vector<gain_type> gain{};
  using members = nn::member_list<&tied_gain::gain>;
  using tied = nn::member_list<&tied_gain::gain>;
};
auto tied_batches(std::size_t count) {
  return micro_batches<passed>(count, [](const auto&, std::size_t i) { return rows_of(1 + i); },
                               [](const auto& m, const auto& x, std::size_t) {
    auto y = x;
    for (const auto& gain : m.gain) { y = y * gain; }
    return y;
  }, [](const auto&, const auto& x, std::size_t) {
    auto wanted = rows_of(extent_of<rows>(x));
    wanted.fill(3);
    return mean_squared_error(x, wanted);
  });
}
// Layers whose hidden features are divided among ranks, or not.
struct tp : mesh_axis<2> {};
struct few : feature_dim<4> {};
struct hidden : feature_dim<4> {};
using hidden_here = shard<hidden, tp>;
template <class Hidden, class M, class T = float>
struct feed_forward {
  using stage_along = M;
  using up_type = tensor<T, Hidden, few>;
  std::vector<up_type> up{};
  std::vector<up_type> down{};
  using members = nn::member_list<&feed_forward::up, &feed_forward::down>;
};
// -1, 0 or 1 for each element: all sums are exact, in any order.
template <class Tensor, class... E>
Tensor whole_numbers(std::size_t seed, const E&... e) {
  Tensor x(e...);
  auto* const elements = x.overwrite();
  for (std::size_t i = 0; i < x.size(); ++i) {
    elements[i] = static_cast<float>(((seed * 31 + i + 1) * 2654435761U >> 9U) % 3U) - 1;
  }
  return x;
}
template <class SumOf>
auto feed_forward_batches(const SumOf& sum_of) {
  using in = tensor<float, rows, few>;
  return micro_batches<in>(2, [](const auto&, std::size_t i) { return whole_numbers<in>(i, rows{2}); },
                           [=](const auto& m, const auto& x, std::size_t) {
    auto y = x;
    for (std::size_t k = 0; k < m.up.size(); ++k) { y = y + sum_of(y, m.up[k], m.down[k]); }
    return y;
  }, [](const auto&, const auto& x, std::size_t i) {
    return mean_squared_error(x, whole_numbers<in>(10 + i, rows{2}));
  });
}

// What `run` throws on a rank that is not the first to fail, and how long it took.
template <class F>
std::string thrown_by(std::size_t count, const F& f, ranks::options how = {.checks = true}) {
  try {
    ranks::run_threads(count, f, how);
  } catch (const std::exception& e) { return e.what(); }
  return "nothing";
}
bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("stages have the losses, gradients and steps of one rank, bit for bit, over threads" * support::threads) {
  on_threads([](const ranks::communicator& world) { stage_checks::check_stages(world); });
}

TEST_CASE("three stages with other numbers of layers have the bits of one rank, over threads" * support::threads) {
  ranks::run_threads(3, [](const ranks::communicator& world) {
    stage_checks::check_steps<stage_checks::stage>(world);
    stage_checks::check_steps<stage_checks::tied_stage>(world);
  }, {.checks = false});
}

TEST_CASE("stages of which ranks divide the hidden features have the gradients and the norm of one rank, over threads" *
          support::threads) {
  // All numbers are exact: counts are powers of two.
  feed_forward<hidden, void> whole;
  for (std::size_t k = 0; k < 4; ++k) {
    whole.up.push_back(whole_numbers<tensor<float, hidden, few>>(20 + k));
    whole.down.push_back(whole_numbers<tensor<float, hidden, few>>(30 + k));
  }
  const auto all = feed_forward_batches([](const auto& x, const auto& up, const auto& down) {
    return contract<hidden>(relu(contract<few>(x, up)), down);
  });
  accumulated total(whole);
  stage_checks::add_all(total, all);
  const auto expected = total.mean();
  CHECK(norm_of(expected.gradient) > 0);
  ranks::run_threads(4, [&](const ranks::communicator& world) {
    const ranks::mesh grid(world, pp{2}, tp{});
    const std::size_t first = 2 * grid.coordinate<pp>();
    const auto here = [&](const auto& from) {
      feed_forward<hidden_here, pp> to;
      for (std::size_t k = first; k < first + 2; ++k) {
        to.up.push_back(part_of<hidden_here>(from.up[k], grid));
        to.down.push_back(part_of<hidden_here>(from.down[k], grid));
      }
      return to;
    };
    const auto batches = feed_forward_batches([&](const auto& x, const auto& up, const auto& down) {
      return all_reduce<tp>(contract<hidden_here>(relu(contract<few>(x, up)), down), grid);
    });
    const auto [loss, gradient] = value_and_gradient(here(whole), batches, grid);
    CHECK(loss == expected.value);
    stage_checks::expect_same(gradient, here(expected.gradient), "the gradient");
    CHECK(norm_of(gradient, grid) == norm_of(expected.gradient));
  }, {.checks = true});
}

TEST_CASE("an input that the layers do not read has the gradient 0, over threads" * support::threads) {
  on_threads([](const ranks::communicator& world) {
    const ranks::mesh<pp> grid(world);
    weights<> mine;
    mine.gain.fill(2);
    const auto [loss, gradient] =
        value_and_gradient(mine,
                           micro_batches<passed>(2, [](const auto& m, std::size_t) { return rows_of(2) * m.gain; },
                                                 [&](const auto&, const auto& x, std::size_t) {
      using result = std::remove_cvref_t<decltype(x)>;
      return world.rank() == 1 ? result(rows_of(2)) : x;
    }, [](const auto&, const auto& x, std::size_t) { return mean_squared_error(x, rows_of(2)); }),
                           grid);
    const bool is_read = world.size() == 1;
    CHECK(loss == (is_read ? 1.0F : 0.0F));
    for (const float one : gradient.gain.values()) { CHECK(one == doctest::Approx(is_read ? 2.0 / 6 : 0.0)); }
  });
}

TEST_CASE("stages with other numbers of micro-batches throw on all ranks, over threads" * support::threads) {
  for (const bool checks : {true, false}) {
    CAPTURE(checks);
    const std::string text = thrown_by(2, [](const ranks::communicator& world) {
      const ranks::mesh<pp> grid(world);
      CHECK_THROWS_WITH_AS((void)value_and_gradient(weights<>(), batches(2 + world.rank()), grid),
                           "value_and_gradient: stage 0 has 2 micro-batches, and stage 1 has 3", extent_error);
    }, {.checks = checks});
    CHECK(text == "nothing");
  }
}

TEST_CASE("tied parameters of three stages have the gradient of all uses, over threads" * support::threads) {
  // Each of the stages that have the gain multiplies by it: y = gain² x on two of three stages.
  ranks::run_threads(3, [](const ranks::communicator& world) {
    const ranks::mesh<pp> grid(world);
    tied_gain<> mine;
    if (world.rank() > 0) { mine.gain.push_back(whole_numbers<tied_gain<>::gain_type>(1)); }
    const auto [loss, gradient] = value_and_gradient(mine, tied_batches(3), grid);
    if (world.rank() == 0) { return; }
    tied_gain<float, void> one;
    one.gain.push_back(mine.gain[0]);
    accumulated total(one);
    const auto all = tied_batches(3);
    using tracked_rows = detail::tensor_of<tracked<float>, detail::shape_of<passed>>;
    for (std::size_t i = 0; i < 3; ++i) {
      total.add([&](const auto& m) {
        const tracked_rows x(all.first(m, i)), y(all.layers(m, x, i));
        return all.loss(m, tracked_rows(all.layers(m, y, i)), i);
      });
    }
    const auto expected = total.mean();
    CHECK(loss == expected.value);
    CHECK(norm_of(gradient.gain[0]) > 0);
    stage_checks::expect_same(gradient.gain[0], expected.gradient.gain[0], "the gradient of both uses");
  }, {.checks = true});
}

TEST_CASE("tied parameters of other extents or elements are an error on all ranks, over threads" * support::threads) {
  ranks::run_threads(3, [](const ranks::communicator& world) {
    const ranks::mesh<pp> grid(world);
    tied_gain<> mine;
    if (world.rank() != 1) { mine.gain.resize(1 + world.rank()); }
    CHECK_THROWS_WITH_AS((void)value_and_gradient(mine, tied_batches(1), grid),
                         "value_and_gradient: stage 0 has 1 tied parameters of 6 elements, and stage 2 has 3 of 18",
                         extent_error);
    mine.gain.resize(world.rank() == 1 ? 0 : 1);
    if (world.rank() == 2) { mine.gain[0].fill(1); }
    CHECK_THROWS_WITH_AS((void)value_and_gradient(mine, tied_batches(1), grid),
                         "value_and_gradient: the tied parameters of stage 2 have other elements than those of stage "
                         "0; they begin as copies of one another",
                         ranks::rank_error);
  }, {.checks = true});
}

TEST_CASE("a stage that passes another tensor is an error with both types, over threads" * support::threads) {
  const std::string text = thrown_by(2, [](const ranks::communicator& world) {
    const ranks::mesh<pp> grid(world);
    if (world.rank() == 0) {
      using other = tensor<float, rows, narrow>;
      (void)value_and_gradient(weights<>(),
                               micro_batches<other>(1, [](const auto&, std::size_t) { return other(rows{2}); },
                                                    [](const auto&, const auto& x, std::size_t) { return x; },
                                                    [](const auto& m, const auto& x, std::size_t) {
        return mean_squared_error(x * sum<wide>(m.gain), other(rows{2}));
      }),
                               grid);
    } else {
      (void)value_and_gradient(weights<>(), batches(1), grid);
    }
  });
  CAPTURE(text);
  CHECK(says(text, "rank 0 sends a message of"));
  CHECK(says(text, "narrow 4]"));
  CHECK(says(text, "rank 1 expects a message of"));
  CHECK(says(text, "wide 6]"));
  CHECK(says(text, "micro-batch 0"));
}

TEST_CASE("without checks a message of another length is an error with both lengths, over threads" * support::threads) {
  const std::string text = thrown_by(2, [](const ranks::communicator& world) {
    std::array<float, 4> elements{};
    if (world.rank() == 0) {
      world.start_send(elements.data(), 3, 1, "x").wait();
    } else {
      world.start_receive(elements.data(), 4, 0, "x").wait();
    }
  }, {.checks = false});
  CAPTURE(text);
  CHECK(says(text, "12 bytes"));
  CHECK(says(text, "16 bytes"));
}

TEST_CASE("messages between two ranks do not meet collectives, and arrive in order, over threads" * support::threads) {
  on_threads([](const ranks::communicator& world) {
    const bool has_next = world.rank() + 1 < world.size(), has_previous = world.rank() > 0;
    const std::array<int, 3> sent{1, 2, 3};
    std::vector<ranks::request> sending;
    for (std::size_t i = 0; has_next && i < sent.size(); ++i) {
      sending.push_back(world.start_send(&sent[i], 1, world.rank() + 1, "number " + std::to_string(i)));
    }
    float one = 1;
    world.all_reduce(&one, 1, "a collective in between");
    CHECK(one == static_cast<float>(world.size()));
    for (std::size_t i = 0; has_previous && i < sent.size(); ++i) {
      int received = 0;
      world.start_receive(&received, 1, world.rank() - 1, "number " + std::to_string(i)).wait();
      CHECK(received == sent[i]);
    }
    for (ranks::request& request : sending) { request.wait(); }
    CHECK_THROWS_AS((void)world.start_send(sent.data(), 1, world.rank(), "to itself"), index_error);
    CHECK_THROWS_AS((void)world.start_send(sent.data(), 1, world.size(), "to no rank"), index_error);
  });
}

TEST_CASE("a stage that throws ends the others, over threads" * support::threads) {
  for (const std::size_t batch : {0U, 2U}) {
    for (const std::size_t bad : {0U, 1U, 3U}) {
      CAPTURE(batch);
      CAPTURE(bad);
      const std::string text = thrown_by(4, [&](const ranks::communicator& world) {
        const ranks::mesh<pp> grid(world);
        auto all = batches(5);
        const auto layers = [&](const auto& m, const auto& x, std::size_t i) {
          if (world.rank() == bad && i == batch) { throw std::runtime_error("no memory on this stage"); }
          return x * m.gain;
        };
        (void)value_and_gradient(weights<>(), micro_batches<passed>(all.count, all.first, layers, all.loss), grid);
      });
      CAPTURE(text);
      CHECK(says(text, "rank " + std::to_string(bad)));
      CHECK(says(text, "no memory on this stage"));
    }
  }
}

TEST_CASE("a stage that is late is named after the limit, over threads" * support::threads) {
  const std::string text = thrown_by(2, [](const ranks::communicator& world) {
    const ranks::mesh<pp> grid(world);
    const auto all = batches(1);
    const auto layers = [&](const auto& m, const auto& x, std::size_t) {
      if (world.rank() == 0) { std::this_thread::sleep_for(std::chrono::milliseconds(400)); }
      return x * m.gain;
    };
    (void)value_and_gradient(weights<>(), micro_batches<passed>(all.count, all.first, layers, all.loss), grid);
  }, {.checks = true, .limit = std::chrono::milliseconds(100)});
  CAPTURE(text);
  CHECK(says(text, "for rank 0 in a message of"));
  CHECK(says(text, "micro-batch 0"));
}

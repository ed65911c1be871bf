// SPDX-License-Identifier: BSL-1.0
// A step of training that runs out of memory, or whose executor throws, changes nothing or completes.
#include "nodes.hpp"
#include "support/failing_allocations.hpp"
#include <dimwise/nn.hpp>

#include <cstring>
#include <vector>

using namespace grad_tests;

namespace {

struct wide : feature_dim<40> {};
struct high : feature_dim<50> {};
template <class T = float>
struct model_of {
  using weights_type = tensor<T, wide, high>;
  using more_type = std::vector<tensor<T, high>>;
  BOOST_HANA_DEFINE_STRUCT(model_of, (weights_type, a_long_name_of_the_weights), (more_type, more));
};
using model_type = model_of<>;

model_type model_of_values(float first) {
  model_type m;
  m.more.resize(2);
  for_each_parameter_of([&](const std::string&, auto& p) {
    auto* const to = p.overwrite();
    for (std::size_t i = 0; i < p.size(); ++i) { to[i] = first + 0.01F * static_cast<float>(i % 17); }
  }, m);
  return m;
}
template <class M>
bool same_bits(const M& a, const M& b) {
  bool all = true;
  for_each_parameter_of([&](const std::string&, const auto& p, const auto& q) {
    all = all && std::memcmp(p.data(), q.data(), p.size() * sizeof(float)) == 0;
  }, a, b);
  return all;
}
model_type deep_copy(const model_type& m) { return converted<float>(m); }

// f(optimiser) makes one; its state has the models `states` of a state.
template <class Make, class States>
void fails_whole(const Make& make, const States& states) {
  const model_type start = model_of_values(1);
  const model_type gradient = model_of_values(-2);
  auto expected_optimiser = make(start);
  model_type expected = deep_copy(start);
  expected_optimiser.step(expected, gradient);
  const auto zeros = make(start);
  const long failed = dimwise_test::each_allocation_fails([&](const auto& work) {
    trim_memory();
    model_type m = start;  // copies share their elements: a step makes its own
    auto optimiser = zeros;
    const bool ended = work([&] { optimiser.step(m, gradient); });
    CHECK(same_bits(m, ended ? expected : start));
    CHECK(states(optimiser.state, ended ? expected_optimiser.state : zeros.state));
    CHECK(static_cast<std::int64_t>(optimiser.state.step) == (ended ? 1 : 0));
    CHECK(same_bits(start, model_of_values(1)));
  });
  CHECK(failed > 3);
}

// Throws after some of its tasks.
struct breaking_executor {
  std::size_t tasks_done = 0;
  static std::size_t worker_count() { return 2; }
  template <class F>
  void parallel_for(std::size_t count, const F& f) {
    for (std::size_t i = 0; i < count; i += 2) {
      f(count - 1 - i, 0);
      if (++tasks_done % 3 == 2) { throw std::bad_alloc(); }
    }
    for (std::size_t i = 1; i < count; i += 2) { f(count - 1 - i, 0); }
  }
};

}  // namespace

TEST_CASE("an optimiser's step that runs out of memory changes nothing") {
  const auto velocities = [](const auto& a, const auto& b) { return same_bits(a.velocity, b.velocity); };
  const auto moments = [](const auto& a, const auto& b) {
    return same_bits(a.first, b.first) && same_bits(a.second, b.second);
  };
  fails_whole([](const model_type& m) { return sgd(m, {.rate = 0.1, .momentum = 0.9}); }, velocities);
  fails_whole([](const model_type& m) { return sgd(m, {.rate = 0.1}); }, velocities);
  fails_whole([](const model_type& m) { return adam(m, {.rate = 0.1}); }, moments);
  fails_whole([](const model_type& m) { return adamw(m, {.rate = 0.1}); }, moments);
}

TEST_CASE("a step whose executor throws is completed by this thread, and then throws the same") {
  struct many : feature_dim<100'000> {};
  using numbers = tensor<float, many>;
  numbers start;
  numbers gradient;
  for (std::size_t i = 0; i < start.size(); ++i) {
    start.overwrite()[i] = static_cast<float>(i % 7);
    gradient.overwrite()[i] = static_cast<float>(i % 5) - 2.0F;
  }
  numbers expected = start;
  adamw(start).step(expected, gradient);
  for (std::size_t before = 0; before < 4; ++before) {
    breaking_executor breaks{before};
    context c(breaks);
    numbers x = start;
    adamw optimiser(start);
    {
      const use_context scope(c);
      CHECK_THROWS_AS(optimiser.step(x, gradient), std::bad_alloc);
    }
    CHECK(static_cast<std::int64_t>(optimiser.state.step) == 1);
    CHECK(std::equal(x.data(), x.data() + x.size(), std::as_const(expected).data()));
  }
}

TEST_CASE("a clipped gradient, and a batch that is added, run out of memory without a change") {
  const model_type gradient = model_of_values(-2);
  CHECK(dimwise_test::each_allocation_fails([&](const auto& work) {
    trim_memory();
    (void)work([&] { (void)clip_norm(gradient, 0.01); });
    CHECK(same_bits(gradient, model_of_values(-2)));
  }) > 0);

  const auto loss = [](const auto& m) {
    const tensor sum_of_squares = sum<wide, high>(m.a_long_name_of_the_weights * m.a_long_name_of_the_weights);
    return average<typename decltype(sum_of_squares)::value_type, wide, high>{sum_of_squares, 2000.0};
  };
  const model_type model = model_of_values(1);
  accumulated once(model);
  once.add(loss);
  accumulated twice = once;
  twice.add(loss);
  CHECK(dimwise_test::each_allocation_fails([&](const auto& work) {
    trim_memory();
    accumulated total = once;
    const bool ended = work([&] { total.add(loss); });
    const auto found = total.mean();
    const auto expected = (ended ? twice : once).mean();
    CHECK(total.count() == (ended ? twice : once).count());
    CHECK(found.value == expected.value);
    CHECK(same_bits(found.gradient, expected.gradient));
  }) > 3);
}

// tests/eval/context.test.cpp -- a context: its executor works, its counters count, it may force the reference loops.
// SPDX-License-Identifier: BSL-1.0
#include "support/threads.hpp"
#include <dimwise/dimwise.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <thread>
#include <vector>

using namespace dimwise;

namespace {

struct seq : position_dim<> {};
struct d_model : feature_dim<> {};
struct d_out : feature_dim<> {};

struct counting_executor {
  std::size_t calls = 0;
  [[nodiscard]] static std::size_t worker_count() { return 2; }
  template <class F>
  void parallel_for(std::size_t count, const F& f) {
    ++calls;
    for (std::size_t i = 0; i < count; ++i) { f(i, i % 2); }
  }
};
struct no_workers {
  [[nodiscard]] static std::size_t worker_count() { return 0; }
  template <class F>
  void parallel_for(std::size_t, const F&) {}
};

tensor<float, seq, d_model> numbers(std::size_t n) {
  tensor<float, seq, d_model> x(seq{n}, d_model{64});
  x.fill(0.5F);
  return x;
}

}  // namespace

TEST_CASE("an evaluation counts in the context that it is given, and nowhere else") {
  const auto x = numbers(8);
  context own;
  reset_plans();
  const tensor y = evaluate(relu(x), own);
  const tensor z = evaluate_plainly(relu(x));
  CHECK(y.values()[0] == z.values()[0]);
  CHECK(own.counts()[kernels::available ? plan_kind::map : plan_kind::plain] == 1);
  CHECK(plans_run()[plan_kind::map] == 0);
  own.reset_counts();
  CHECK(own.counts()[plan_kind::map] == 0);
}

TEST_CASE("use_context lasts until the end of its block, within modules too, and nests") {
  counting_executor pool;
  context threads(pool);
  const nn::linear<nn::from<d_model>, nn::to<d_out>> layer{tensor<float, d_model, d_out>(d_model{64}, d_out{512}),
                                                           tensor<float, d_out>(d_out{512})};
  const auto x = numbers(512);
  {
    const use_context scope(threads);
    CHECK(&current_context() == &threads);
    (void)layer(x);
    context inner;
    {
      const use_context nested(inner);
      CHECK(&current_context() == &inner);
    }
    CHECK(&current_context() == &threads);
  }
  CHECK(&current_context() != &threads);
  if (kernels::available) { CHECK(pool.calls > 0); }
}

TEST_CASE("a context may force the reference loops") {
  context own;
  own.force_reference();
  (void)evaluate(relu(numbers(8)), own);
  CHECK(own.counts()[plan_kind::plain] == 1);
  CHECK(own.counts()[plan_kind::map] == 0);
  // An executor keeps what the current context forces.
  const plain_loops only;
  counting_executor pool;
  reset_plans();
  (void)evaluate(relu(numbers(8)), pool);
  CHECK(plans_run()[plan_kind::plain] == 1);
  CHECK(plan(relu(numbers(8)))[plan_kind::plain] == 1);
}

TEST_CASE("an executor without workers is refused") {
  no_workers none;
  CHECK_THROWS_AS(context{none}, number_error);
}

TEST_CASE("memory that is kept for the next evaluation is limited and given back") {
  if (!detail::keeps_blocks) { return; }
  (void)trim_memory();
  CHECK(kept_memory() == 0);
  { const auto x = numbers(4096); }
  CHECK(kept_memory() >= 4096 * 64 * sizeof(float));
  CHECK(trim_memory() >= 4096 * 64 * sizeof(float));
  CHECK(kept_memory() == 0);
  { const auto x = numbers(2); }
  CHECK(kept_memory() >= 2 * 64 * sizeof(float));
  limit_kept_memory(0);
  CHECK(kept_memory() == 0);
  { const auto x = numbers(4096); }
  CHECK(kept_memory() == 0);
  limit_kept_memory(std::size_t{1} << 26);
  { const auto x = numbers(4096); }
  CHECK(kept_memory() > 0);
  limit_kept_memory(as_much_as_was_in_use);
}

TEST_CASE("memory is kept up to the most that was in use, a sixteenth and 8 MiB more") {
  if (!detail::keeps_blocks) { return; }
  constexpr std::size_t row = 64 * sizeof(float);
  constexpr std::size_t slack = detail::block_pool::slack;
  (void)trim_memory();
  const std::size_t before = detail::block_pool::peak();
  const auto weights = numbers((64U << 20) / row);
  const auto step = [] {
    std::vector<tensor<float, seq, d_model>> gradients;
    for (std::size_t i = 1; i <= 100; ++i) { gradients.push_back(numbers(4000 + 16 * i)); }
  };
  step();
  const std::size_t most = detail::block_pool::peak() - before;
  CHECK(most > (160U << 20));
  CHECK(kept_memory() > (100U << 20));
  // Steps soon find all that they need.
  step();
  const std::size_t taken = detail::block_pool::taken_from_system();
  step();
  CHECK(detail::block_pool::taken_from_system() == taken);
  // Other sizes take the place of the oldest.
  for (std::size_t i = 1; i <= 40; ++i) { const auto x = numbers((1U << 16) + 4096 * i); }
  CHECK(kept_memory() + weights.size() * sizeof(float) <= most + most / 16 + slack);
  CHECK(detail::block_pool::peak() - before == most);
  // A limit keeps what was given last.
  limit_kept_memory(64U << 20);
  CHECK(kept_memory() <= (64U << 20));
  {
    const auto x = numbers((40U << 20) / row);
    const auto y = numbers((30U << 20) / row);
  }
  CHECK(kept_memory() >= (60U << 20));
  CHECK(kept_memory() <= (64U << 20));
  limit_kept_memory(as_much_as_was_in_use);
  // Nothing that was in use before counts any more.
  (void)trim_memory();
  { const auto x = numbers((40U << 20) / row); }
  CHECK(kept_memory() >= (40U << 20));
}

TEST_CASE("a thread keeps its own scratch, whatever others keep, and leaves them what they keep when it ends" *
          support::threads) {
  if (!detail::keeps_blocks) { return; }
  (void)trim_memory();
  const auto fill = [](std::size_t count, std::size_t rows) {
    std::vector<tensor<float, seq, d_model>> all;
    for (std::size_t i = 0; i < count; ++i) { all.push_back(numbers(rows)); }
  };
  // All that may be kept, but for less than the size of a block.
  fill(300, 576);
  fill(100, 512);
  const std::size_t most = detail::block_pool::peak();
  const std::size_t kept = kept_memory();
  std::thread([] {
    { const auto x = numbers(4096); }
    const std::size_t taken = detail::block_pool::taken_from_system();
    { const auto x = numbers(4096); }
    CHECK(detail::block_pool::taken_from_system() == taken);
  }).join();
  CHECK(detail::block_pool::peak() == most);
  CHECK(kept_memory() == kept);
}
